"""Secrets are taken out by the writer, before anything reaches the disk.

Two nets: the secrets we were told about, in every form in which they commonly come back (as they are, escaped for
JSON, HTML or URLs, in base64 at any offset, in hex, as UTF-16, with any characters as HTML's numeric entities, with
colour codes of terminals or characters of no width between; from 12 characters on in any mix of upper and lower
case), and the shapes of well-known secrets. What is found becomes
`[redacted:<kind>]`; nothing else changes. A word of a reply stays a word, so word counts hold.

Known limits, on purpose: a secret of fewer than 8 characters is not looked for by its value (`test`, `none` and
`ollama` are used as keys of local servers and are ordinary words; they protect nothing); a secret cut in two by
the pieces of a raw stream is not put together inside that exhibit, though it is in the reply's text; compressed
exhibits are not opened.
"""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from recordings.secret_patterns import PATTERNS

__all__ = ["SHORTEST", "Redactor", "marks_in"]

SHORTEST = 8
"""Characters a secret must have to be looked for by its value."""

_ANY_CASE = 12
"""Characters a secret must have to be looked for in any mix of upper and lower case."""

_DISGUISE = re.compile(r"&#|\x1b\[|[\0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_BETWEEN = r"(?:\x1b\[[0-9;]{0,20}m|[\0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]){0,8}"
_PASSES = 10
_MARK = re.compile(r"\[redacted:[a-z-]{3,20}\]")
_EVERY_MARK = "".join(f"[redacted:{kind}]" for kind in {"secret", "cookie", *(pattern.kind for pattern in PATTERNS)})

_COOKIES = re.compile(
    r"(?i:(?<![a-z0-9_-])(?:set-)?cookie(?:\\*[\"'])?\s{0,8}[:,]\s{0,8})"
    r"(?P<value>\[[^\]]{0,4096}\]|\\*\"(?:[^\"\\]|\\(?!\")[^\"]){0,16384}|[A-Za-z0-9!#$%&'*+.^_`|~-]{1,99}=[^\r\n\"']{1,16384})"
)
_COOKIE = re.compile(r"(?P<head>(?:^|[\"',;]\s{0,8})(?:[A-Za-z0-9!#$%&*+.^_`|~-]{1,99})=)(?P<secret>[^;,\s\"'\\\[\]]+)")
_ATTRIBUTES = frozenset(["expires", "max-age", "domain", "path", "samesite", "priority", "version", "comment"])

_ANY_HINT = re.compile("|".join(sorted({"cookie", *(re.escape(hint) for one in PATTERNS for hint in one.hints)})))
_SHORT = 200

_TEXT = re.compile(
    r"(?i)\s*(text/|application/(?:[\w.-]+\+)?(?:json|xml|jsonl|x-ndjson|javascript|yaml|x-yaml|graphql|"
    r"x-www-form-urlencoded|problem\+json)|[\w.-]+/[\w.-]+\+(?:json|xml))"
)
_BINARY = re.compile(r"(?i)\s*(?:image/(?!svg)|audio/|video/|font/|application/(?:zip|gzip|pdf|x-gzip|zstd))")
_CHARSET = re.compile(r"(?i)charset\s*=\s*\"?([\w.:-]+)")


def marks_in(text: str) -> int:
    """How many times something was redacted in `text`."""
    return text.count("[redacted:") and len(_MARK.findall(text))


class Redactor:
    """Takes secrets out of texts, JSON values and exhibits.

    secrets: values that must not be stored. `ignored` counts those too short to be looked for (see the module).
    Applying it twice gives what applying it once gave.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: list[str] = []
        self._raw: list[bytes] = []
        self._known: set[str] = set()
        self._loose: list[tuple[str, re.Pattern[str]]] = []  # how it looks in lower case, and all its disguises
        self.ignored = 0
        self.add(*secrets)

    @property
    def known(self) -> int:
        """How many secrets are looked for by their value."""
        return len(self._known)

    def add(self, *secrets: str) -> None:
        """Look for these too, from now on."""
        for secret in secrets:
            value = secret.strip()
            if not value or value in self._known:
                continue
            if len(value) < SHORTEST or value in _EVERY_MARK:
                self.ignored += 1
                continue
            self._known.add(value)
            self._forms.extend(form for form in _forms(value) if form not in _EVERY_MARK)
            if value.lower() not in _EVERY_MARK:
                self._loose.append((value.lower(), _disguised(value)))
            raw = value.encode("utf-8", "surrogatepass")
            self._raw += [raw, value.encode("utf-16-le", "surrogatepass"), value.encode("utf-16-be", "surrogatepass")]
        # The longest first: a form may contain a shorter one, and must go as a whole.
        self._forms = sorted(set(self._forms), key=lambda form: (-len(form), form))

    def text(self, text: str) -> str:
        """`text` with every secret replaced by its mark."""
        for _ in range(_PASSES):  # a mark can uncover a secret that was glued to the one before it
            cleaned = self._pass(text)
            if cleaned == text:
                break
            text = cleaned
        return text

    def _pass(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, "[redacted:secret]")
        lowered = text.lower()
        if self._loose:
            disguises = _DISGUISE.search(text)
            for plain, expression in self._loose:
                if disguises or plain in lowered:
                    text = expression.sub("[redacted:secret]", text)
            lowered = text.lower()
        if len(text) < _SHORT and not _ANY_HINT.search(lowered):  # names and hashes: most texts of a recording
            return text
        for pattern in PATTERNS:
            if any(hint in lowered for hint in pattern.hints):
                text = _substituted(pattern.expression, pattern.kind, pattern.sure, text)
        if "cookie" in lowered:
            text = _COOKIES.sub(_without_cookies, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it redacted, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def data(self, data: bytes, media_type: str = "") -> bytes:
        """An exhibit, redacted. Text keeps its encoding and any bytes that are not valid in it.

        In what is not text, known secrets are overwritten with `*`, so that offsets in the file stay what they are.
        """
        if _is_text(data, media_type):
            for told in self._known:  # text in UTF-16 is often said to be something else
                for order in ("utf-16-le", "utf-16-be"):
                    wide = told.encode(order, "surrogatepass")
                    if wide in data:
                        data = data.replace(wide, "[redacted:secret]".encode(order))
            encoding = _encoding(media_type)
            try:
                text = data.decode(encoding, "surrogateescape")
                if text.encode(encoding, "surrogateescape") == data:
                    return self._body(text, media_type).encode(encoding, "surrogateescape")
            except (UnicodeError, LookupError):
                pass
            return self._body(data.decode("utf-8", "surrogateescape"), media_type).encode("utf-8", "surrogateescape")
        for secret in self._raw:
            if secret in data:
                data = data.replace(secret, b"*" * len(secret))
        return data

    def _body(self, text: str, media_type: str) -> str:
        if "form-urlencoded" in media_type.lower():
            return self.text(f"&{text}")[1:]  # the first parameter of a form has no & before it
        return self.text(text)


def _substituted(expression: re.Pattern[str], kind: str, sure: Any, text: str) -> str:
    def marked(match: re.Match[str]) -> str:
        secret = match["secret"]
        if not sure(secret):
            return match[0]
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return f"{match[0][:start]}[redacted:{kind}]{match[0][end:]}"

    return expression.sub(marked, text)


def _without_cookies(match: re.Match[str]) -> str:
    start = match.start("value") - match.start()

    def marked(cookie: re.Match[str]) -> str:
        name = cookie["head"].strip("\"',; \t=").lower()
        return cookie[0] if name in _ATTRIBUTES else f"{cookie['head']}[redacted:cookie]"

    return match[0][:start] + _COOKIE.sub(marked, match["value"])


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


def _encoding(media_type: str) -> str:
    named = _CHARSET.search(media_type)
    return named[1] if named else "utf-8"


def _forms(secret: str) -> Iterator[str]:
    """The texts in which `secret` may come back."""
    data = secret.encode("utf-8", "surrogatepass")
    escaped = json.dumps(secret, ensure_ascii=False)[1:-1]
    ascii_escaped = json.dumps(secret)[1:-1]
    plain = {secret, escaped, ascii_escaped, html.escape(secret), html.escape(secret, quote=False)}
    plain |= {form.replace("/", "\\/") for form in plain}
    plain |= {html.escape(secret).replace("&#x27;", "&#39;"), json.dumps(ascii_escaped)[1:-1]}
    plain |= {json.dumps(escaped, ensure_ascii=False)[1:-1]}
    plain.add("".join(f"\\u{unit:04x}" for unit in _units(secret)))
    plain.add("".join(f"\\u{unit:04X}" for unit in _units(secret)))
    # What stays unescaped differs: nothing, a path, JavaScript's encodeURIComponent and encodeURI, a form.
    for safe in ("", "/", "!'()*", ";,/?:@&=+$!'()*#"):
        plain.add(quote(data, safe=safe))
    plain.add(quote_plus(data))
    plain.add("".join(f"%{byte:02X}" for byte in data))
    for form in plain:
        yield form
        if "%" in form:
            yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form)
            yield quote(form, safe="")
    yield data.hex()
    yield data.hex().upper()
    for form in _base64_forms(data):
        yield form
        if "/" in form:
            yield form.replace("/", "\\/")
        if set(form) & set("+/="):
            yield quote(form, safe="")


def _disguised(secret: str) -> re.Pattern[str]:
    """`secret` with each character as itself or as an entity, and what nobody sees between. It takes linear time: what
    stands between begins with no character that a secret can begin its next piece with."""
    any_case = len(secret) >= _ANY_CASE
    pieces = []
    for character in secret:
        codes = {ord(one) for one in (character, character.lower(), character.upper()) if len(one) == 1}
        shapes = [re.escape(character)]
        for code in sorted(codes if any_case else {ord(character)}):
            shapes += [f"&#0{{0,5}}{code};?", f"&#[xX]0{{0,5}}(?i:{code:x});?"]
        pieces.append(f"(?:{'|'.join(shapes)})")
    return re.compile(_BETWEEN.join(pieces), re.IGNORECASE if any_case else re.NOFLAG)


def _units(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))


def _base64_forms(data: bytes) -> Iterator[str]:
    """Base64 of `data` on its own, and what is certain of it wherever it stands inside something longer."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode()
        yield encode(data).decode().rstrip("=")
        for offset in range(3):
            coded = encode(b"\0" * offset + data).decode().rstrip("=")
            first = (0, 2, 3)[offset]  # characters that also hold bits of what stands before
            last = len(coded) - (1 if (len(data) + offset) % 3 else 0)  # … or after
            yield coded[first:last]
