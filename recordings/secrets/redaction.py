"""Redaction of secrets before anything reaches the disk.

There are three searches. The first is for known secrets in every form in which they are commonly returned
(`recordings.secrets.secret_forms`); secrets of 12 characters or more are found in any mix of upper and lower case. The
second is for the letters and digits of known secrets and of their encodings, with anything between them
(`recordings.secrets.bare_text`). The third is for the shapes of well-known kinds of secrets
(`recordings.secrets.secret_patterns`). Each search is made in the text as it is and without its escapes
(`recordings.secrets.escapes`). Hits become `[redacted:<kind>]`. A redacted word is still one word, so word counts
remain valid. Everything takes time linear in the text.

There are two deliberate limits. A secret of fewer than 8 characters is not searched for by its value: `test`, `none`
and `ollama` are keys of local servers and ordinary words, and protect nothing. Compressed exhibits are not opened.
"""

import codecs
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
from operator import itemgetter, le
from threading import Lock
from typing import Any

from recordings.secrets.bare_text import BareForms
from recordings.secrets.escapes import SearchedText, Span, has_codes, undo_letters, unescape
from recordings.secrets.secret_forms import APART, CutSecrets, forms_of, lines_of, parts_of
from recordings.secrets.secret_patterns import KINDS, PATTERNS, cookies, may_match
from topics.lower_case import to_lower

_FIELD = re.compile(r'"([^"\\\s]{1,40})"\s{0,4}:\s{0,4}"((?:[^"\\\n]|\\.)*+)"')
_LINE = re.compile(r"^(data): ?([^\[{\"\r\n][^\r\n]*+)", re.MULTILINE)


def clean_stream(text: str, clean: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """Clean the text of a stream. `clean` gets the pieces of each field and returns as many cleaned pieces."""
    for expression in (_FIELD, _LINE):
        fields: defaultdict[str, list[str]] = defaultdict(list)
        for name, piece in expression.findall(text):
            fields[name].append(piece)
        # A field with the same value in every piece is not cut into pieces.
        cleaned = {name: clean(pieces) for name, pieces in fields.items() if pieces.count(pieces[0]) < len(pieces)}
        changed = {name: iter(pieces) for name, pieces in cleaned.items() if list(pieces) != fields[name]}
        if not changed:
            continue
        kept, at = [], 0
        for match in expression.finditer(text):
            if match[1] in changed:
                kept += [text[at : match.start(2)], next(changed[match[1]])]
                at = match.end(2)
        text = "".join([*kept, text[at:]])
    return text


# Characters a secret must have to be searched for by its value.
SHORTEST = 8

# Characters a secret must have to be searched in any mix of upper and lower case.
_ANY_CASE = 12

_MOST_PASSES = 10
# Literals in every text with a secret of a pattern, in lower case if the pattern is.
_LITERALS = tuple((pattern, pattern.holds[0], pattern.lowered) for pattern in PATTERNS)

_MARK = re.compile(r"\[redacted:[a-z-]{3,20}\]")
_EVERY_MARK = "".join(f"[redacted:{kind}]" for kind in sorted({"secret", *KINDS}))
_SHORT_TEXT = 200  # characters: long texts seldom repeat, and would fill the memory
# Characters of texts that are remembered, and how many of them.
_MOST_CLEAN = 2**13

# Characters from which checking whether a search is needed costs as much as the search.
_LONG_TEXT = 2**15

_STRETCH = 2**19  # characters searched at a time, so that a text of any length takes little memory
# Characters of context on each side of a stretch, more than any pattern needs.
_CONTEXT = 2**15

# Characters that identify a repeated stretch, and the longest period of a repetition.
_HEAD, _LONGEST_PERIOD = 2**7, 2**12

_TEXT = re.compile(
    r"(?i)\s*(text/|application/(?:[\w.-]+\+)?(?:json|xml|jsonl|x-ndjson|javascript|yaml|x-yaml|graphql|"
    r"x-www-form-urlencoded|problem\+json)|[\w.-]+/[\w.-]+\+(?:json|xml))"
)
_BINARY = re.compile(r"(?i)\s*(?:image/(?!svg)|audio/|video/|font/|application/(?:zip|gzip|pdf|x-gzip|zstd))")
_CHARSET = re.compile(r"(?i)charset\s*=\s*\"?([\w.:-]+)")


def count_marks(text: str) -> int:
    """Count the redactions in `text`."""
    return text.count("[redacted:") and len(_MARK.findall(text))


class Redactor:
    """Removes secrets from texts, JSON values and exhibits. A second redaction changes nothing. `secrets` are values
    that must not be stored; those that are put into this collection later, such as a renewed token, count from then
    on."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._source, self._followed = secrets, 0
        self._adding = Lock()  # texts are redacted in several threads
        self._forms: list[str] = []
        self._any_case: list[str] = []  # those of them that are searched in any case
        self._cut = CutSecrets()
        self._bare = BareForms()
        self._raw: list[bytes] = []
        self._known: set[str] = set()
        self._too_short: set[str] = set()
        self._clean: set[str] = set()  # short texts without secrets
        self._follow()

    @property
    def known_count(self) -> int:
        """The number of secrets that are searched for by their value."""
        return len(self._known)

    @property
    def ignored(self) -> int:
        """The number of secrets that are too short to be searched."""
        return len(self._too_short)

    def add(self, *secrets: str) -> None:
        """Search for these secrets as well from now on."""
        with self._adding:
            self._add(secrets)

    def _follow(self) -> None:
        if len(self._source) != self._followed:
            with self._adding:
                known = tuple(self._source)
                self._add(known)
                self._followed = len(known)

    def _add(self, secrets: Iterable[str]) -> None:
        # Everything is copied, because another thread may be searching a text meanwhile.
        cut, bare, known = deepcopy(self._cut), deepcopy(self._bare), self._known.copy()
        forms, any_case, raw = self._forms.copy(), self._any_case.copy(), self._raw.copy()
        waiting = deque(secrets)
        while waiting:
            value = waiting.popleft().strip()
            if not value or value in known:
                continue
            if len(value) < SHORTEST or value in _EVERY_MARK:
                self._too_short.add(value)
                continue
            known.add(value)
            new = [form for form in forms_of(value) if form not in _EVERY_MARK]
            forms += new
            cut.add(new)
            bare.add(value, _EVERY_MARK)
            bare.add_lines(lines_of(value))
            waiting.extend(parts_of(value))
            lower = to_lower(value)
            if len(value) >= _ANY_CASE and lower not in _EVERY_MARK:
                any_case.append(lower)
            raw += [value.encode(code, "surrogatepass") for code in ("utf-8", "utf-16-le", "utf-16-be")]
        self._forms, self._any_case, self._raw = sorted(set(forms)), any_case, raw
        self._cut, self._bare, self._known, self._clean = cut, bare, known, set()

    def leaves_unchanged(self, texts: Sequence[str]) -> bool:
        """Return True if redaction would change none of these texts. Short texts without secrets are remembered,
        because names, hashes and states recur; all remaining texts are searched in one pass."""
        self._follow()
        clean = self._clean  # a secret that is added meanwhile has a new set
        new = [text for text in texts if text not in clean]
        if not new:
            return True
        joined = APART.join(new)
        if (len(joined) >= _LONG_TEXT or self._may_have_secret(joined)) and self.texts(new) != new:
            return False
        if len(clean) > _MOST_CLEAN:
            clean.clear()
        clean.update(text for text in new if len(text) < _SHORT_TEXT)
        return True

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced by its mark."""
        self._follow()
        if len(text) < _LONG_TEXT and not self._may_have_secret(text):
            return text
        return self.pieces((text,))[0]

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Redact many texts in one pass, with the same result as redacting each text alone."""
        apart = [part for text in texts for part in (text, APART)]
        return self.pieces(apart)[::2]

    def _may_have_secret(self, text: str) -> bool:
        if has_codes(text) or may_match(text):
            return True
        return bool(self._known) and any(map(self._may_contain, {text, undo_letters(text)}))

    def _may_contain(self, text: str) -> bool:
        if any(map(text.__contains__, self._forms)) or any(map(text.__contains__, self._cut.beginnings)):
            return True
        if self._any_case and any(map(to_lower(text).__contains__, self._any_case)):
            return True
        return self._bare.may_contain(text)

    def pieces(self, pieces: Sequence[str]) -> list[str]:
        """Redact the pieces of one text. The mark of a secret is in the piece in which the secret begins."""
        self._follow()
        found = list(pieces)
        for number in range(_MOST_PASSES):  # a mark can uncover a secret that was glued to the one before it
            spans = self._spans(found[0] if len(found) == 1 else "".join(found), "[redacted:" if number else "")
            if not spans:
                break
            found = _mark_spans(found, spans)
        return found

    def _spans(self, text: str, near: str) -> list[Span]:
        """Return the places of secrets in `text`, in order and without overlap. Stretches that do not contain `near`
        are skipped.

        A long text is searched in stretches, so that neither the memory nor the time of one step grows with it. A model
        that is caught in a loop repeats itself for megabytes, so a stretch that equals the previous stretch is not
        searched again.
        """
        found: list[Span] = []
        begin = 0
        before: tuple[str, int, int] | None = None
        seen: list[Span] = []
        while begin < len(text):
            first, last = max(0, begin - _CONTEXT), begin + _STRETCH
            until = _end_of_stretch(text, first, last)
            stretch = text[first:last]
            low, high = begin - first, until - first
            if before != (stretch, low, high):
                spans = self._find_spans(stretch) if near in stretch else []
                before, seen = (stretch, low, high), _unite_spans([span for span in spans if low <= span[0] < high])
            found += [(start + first, end + first, kind) for start, end, kind in seen]
            begin = until
        return _unite_spans(found)

    def _find_spans(self, text: str) -> list[Span]:
        searched = SearchedText(text)
        found = [*self._find_literally(searched), *self._bare.spans(text)]
        meant = unescape(searched)
        if meant:
            found += meant.map_to_original(list(self._find_literally(SearchedText(meant.text))))
            found += meant.map_marked_to_original(list(self._bare.spans(meant.marked)))
        return found

    def _find_literally(self, searched: SearchedText) -> Iterator[Span]:
        for form in filter(searched.may_contain, self._forms):
            yield from _occurrences(searched.text, form)
        for form in filter(searched.may_contain, self._any_case):
            yield from _occurrences(searched.lower, form)
        yield from self._cut.spans(searched)
        text, lower = searched.text, "" if searched.long else searched.lower
        for pattern, literal, lowered in _LITERALS:
            # Most texts contain nothing for most patterns; in a long text the patterns find that faster themselves.
            if lower and literal not in (lower if lowered else text):
                continue
            for start, end in pattern.spans(searched):
                yield start, end, pattern.kind
        yield from cookies(searched)

    def value(self, value: Any) -> Any:
        """Return a JSON value with all its strings redacted, including keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def data(self, data: bytes, media_type: str = "") -> bytes:
        """Redact an exhibit. Text keeps its encoding and any invalid bytes. In binary data, known secrets are
        overwritten with `*`, so that offsets in the file do not change."""
        self._follow()
        if _is_text(data, media_type):
            for told in self._known:  # UTF-16 text often has another declared type
                for order in ("utf-16-le", "utf-16-be"):
                    wide = told.encode(order, "surrogatepass")
                    if wide in data:
                        data = data.replace(wide, "[redacted:secret]".encode(order))
            named = _CHARSET.search(media_type)
            encoding = named[1] if named else "utf-8"
            try:
                text = data.decode(encoding, "surrogateescape")
                # UTF-8 is restored byte for byte.
                if codecs.lookup(encoding).name == "utf-8" or text.encode(encoding, "surrogateescape") == data:
                    return self._body(text, media_type).encode(encoding, "surrogateescape")
            except (UnicodeError, LookupError):
                pass
            return self._body(data.decode("utf-8", "surrogateescape"), media_type).encode("utf-8", "surrogateescape")
        for secret in self._raw:
            if secret in data:
                data = data.replace(secret, b"*" * len(secret))
        return data

    def _body(self, text: str, media_type: str) -> str:
        kind = media_type.lower()
        if "form-urlencoded" in kind:
            return self.text(f"&{text}")[1:]  # the first parameter of a form has no & before it
        if "event-stream" in kind or "ndjson" in kind or "jsonl" in kind:
            text = clean_stream(text, self.pieces)
        return self.text(text)


def _end_of_stretch(text: str, first: int, last: int) -> int:
    """Return the end of the part of text[first:last] in which secrets may begin; the rest is their context. If the text
    repeats itself, the next stretch begins with the same text as this stretch."""
    if last >= len(text):
        return len(text)
    latest = last - 2 * _CONTEXT
    again = text.rfind(text[first : first + _HEAD], max(first + 1, latest - _LONGEST_PERIOD), latest + _HEAD)
    return (again if again >= 0 else latest) + _CONTEXT


def _occurrences(text: str, form: str) -> Iterator[Span]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form), "secret"
        at = text.find(form, at + len(form))


def _unite_spans(spans: list[Span]) -> list[Span]:
    """Sort the spans and join overlapping spans. A joined span has the kind `secret` if it contains a known secret,
    else the kind of its first part."""
    if all(map(le, map(itemgetter(1), spans), map(itemgetter(0), islice(spans, 1, None)))):
        return spans  # they are in order already, and none overlaps the next
    spans = list(dict.fromkeys(spans))  # with escapes, most are found twice
    spans.sort(key=itemgetter(1), reverse=True)
    spans.sort(key=itemgetter(0))
    found: list[Span] = []
    for start, end, kind in spans:
        if not found or start >= found[-1][1]:
            found.append((start, end, kind))
        else:
            first, last, before = found[-1]
            found[-1] = first, max(last, end), kind if kind == "secret" else before
    return found


def _mark_spans(pieces: Sequence[str], spans: Sequence[Span]) -> list[str]:
    starts, ends = [start for start, _, _ in spans], [end for _, end, _ in spans]
    mark = {kind: f"[redacted:{kind}]" for kind in {kind for _, _, kind in spans}}
    marks = [mark[kind] for _, _, kind in spans]
    found: list[str] = []
    begin, first, on = 0, 0, 0
    for piece in pieces:
        end = begin + len(piece)
        last = bisect_left(starts, end, first)
        on = max(begin, on)  # the piece continues here after the last secret
        kept = zip([on, *ends[first:last]], [*starts[first:last], end])
        parts = [""] * (2 * (last - first) + 1)
        parts[::2] = [piece[start - begin : stop - begin] for start, stop in kept]
        parts[1::2] = marks[first:last]
        found.append("".join(parts))
        begin, on, first = end, ends[last - 1] if last else 0, last
    return found


def _is_text(data: bytes, media_type: str) -> bool:
    if _TEXT.match(media_type):
        return True
    if _BINARY.match(media_type) or b"\0" in data[:4096]:
        return False
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError:
        return False
    return True
