"""The shapes of well-known kinds of secrets, by which secrets are found even if nobody listed them.

The patterns were written for Harvest. `detect-secrets` 1.5.0 was considered, but it takes 0.36 s to import (with
`requests`), reports secrets without their places, and reads line by line (a private key has many lines). Its keyword
and entropy detectors match identifiers and hashes, of which a recording is full. A pattern here reports its span, and
is only kept if a test shows that it matches nothing in ordinary texts.

A reply may consist of megabytes of beginnings of secrets. So every expression begins with a literal, for which the
engine needs a nanosecond for each character, and uses lookbehind for anything before the literal. A failed match ends
at the next such literal at the latest, and no secret is longer than some thousands of characters.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from recordings.secrets.escapes import SearchedText, Span
from topics.late_pattern import lazy_pattern
from topics.lower_case import to_lower


@dataclass(frozen=True, slots=True)
class Pattern:
    """The shape of one kind of secret.

    `kind` is written into `[redacted:<kind>]`. The group `secret` of `expression` is removed. If `lowered`, the
    expression is for the text in lower case. `sure` is a final check of the secret, if the shape alone would match
    ordinary text. Every text with such a secret contains all literals in `holds`, and at least one of the lower-case
    literals in `some`, so a text without these literals is skipped in a fraction of the time.
    """

    kind: str
    expression: re.Pattern[str]
    lowered: bool = False
    sure: Callable[[str], bool] = bool
    holds: tuple[str, ...] = ()
    some: tuple[str, ...] = ()

    def spans(self, searched: SearchedText) -> Iterator[tuple[int, int]]:
        if not all(map(searched.contains_in_any_case if self.lowered else searched.contains, self.holds)):
            return
        if self.some and not any(map(searched.contains_in_any_case, self.some)):
            return
        for match in self.expression.finditer(searched.lower if self.lowered else searched.text):
            start, end = match.span("secret")
            if self.sure(searched.text[start:end]):
                yield start, end


_DIGIT = lazy_pattern(r"\d")


def _is_mixed(text: str) -> bool:
    """Return True if a text has a digit, and capitals or a long part, unlike the slug `sk-bratislava-2023-hotels`."""
    if not _DIGIT.search(text):
        return False
    return text.lower() != text or max(map(len, re.split("[-_.]", text))) >= 20


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _is_credentials(text: str) -> bool:
    """Return True for base64 of `name:password`. For example, `Authorization: Basic understanding` is prose."""
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False


def _is_token(text: str) -> bool:
    """Return False for words, and for placeholders such as YOUR_API_KEY."""
    return _has_digit(text) or (text.lower() != text and text.upper() != text)


def _negative_lookbehind(literal: str, before: str = "[A-Za-z0-9_-]") -> str:
    return f"{re.escape(literal)}(?<!{before}{re.escape(literal)})"


def _key(kind: str, literal: str, rest: str, sure: Callable[[str], bool] = bool) -> Pattern:
    shape = rf"(?P<secret>{_negative_lookbehind(literal)}{rest})(?![A-Za-z0-9_-])"
    return Pattern(kind, lazy_pattern(shape), sure=sure, holds=(literal,))


_QUOTE = r"(?:\\*+[\"']|%22|&quot;)?"
_SEPARATOR = rf"{_QUOTE}\s{{0,8}}[:=,]\s{{0,8}}\[?{_QUOTE}\s{{0,8}}"


def _header(kind: str, name: str, rest: str, sure: Callable[[str], bool]) -> Pattern:
    before = r"\w" if name == "authorization" else "[a-z0-9]"
    shape = f"{_negative_lookbehind(name, before)}{_SEPARATOR}{rest}"
    return Pattern(kind, lazy_pattern(shape), lowered=True, sure=sure, holds=(name,))


_PARAMETERS = (
    r"(?=[abciprstx])(?:(?:(?:access|auth|refresh|id|session|security|bearer)[_-]?|x-amz-security-)?token|api[_-]?key"
    r"|password|passwd|pwd|(?:client[_-]?)?secret|x-amz-(?:signature|credential))"
)
# The name of each of them contains one of these.
_PARTS_OF_PARAMETERS = ("token", "key", "passw", "pwd", "secret", "x-amz-")


def _parameter_pattern(separator: str) -> Pattern:
    shape = rf"{separator}{_PARAMETERS}(?:=|%3d)(?P<secret>(?:[^%&#\s\"'<>\\\[\]]|%(?!2[36])){{1,8192}}+)"
    begins = separator.partition("(")[0].replace("\\\\", "\\").replace("\\?", "?")
    return Pattern("parameter", lazy_pattern(shape), lowered=True, holds=(begins,), some=_PARTS_OF_PARAMETERS)


# If two of them match the same, the first gives the kind.
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "private-key",
        lazy_pattern(
            r"(?P<secret>-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^\"'<>-]{1,512}+|-(?!----)){0,32}+-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:(?:\\++[rn]|\s){1,8}[A-Za-z0-9+/=]{16,512}){1,32}))"
        ),
        holds=("-----BEGIN ", "PRIVATE KEY"),
    ),
    _header("bearer", "authorization", r"(?:bearer|token)\s{1,8}(?P<secret>[a-z0-9._~+/=-]{8,8192})", _is_token),
    _header("basic", "authorization", r"basic\s{1,8}(?P<secret>[a-z0-9+/_-]{4,8192}={0,2})", _is_credentials),
    _header("api-key", "api-key", r"(?P<secret>[a-z0-9._~+/=-]{12,8192})", _is_mixed),
    _key("api-key", "sk-", r"[A-Za-z0-9_-]{20,8192}", _is_mixed),
    _key("api-key", "sk_live_", r"[A-Za-z0-9]{16,8192}"),
    _key("api-key", "rk_live_", r"[A-Za-z0-9]{16,8192}"),
    _key("api-key", "gsk_", r"[A-Za-z0-9]{40,8192}"),
    _key("aws", "AKIA", r"[A-Z0-9]{16}"),
    _key("aws", "ASIA", r"[A-Z0-9]{16}", _has_digit),
    *(_key("github", f"gh{letter}_", r"[A-Za-z0-9]{36,8192}") for letter in "pousr"),
    _key("github", "github_pat_", r"[A-Za-z0-9_]{40,8192}"),
    _key("gitlab", "glpat-", r"[A-Za-z0-9_-]{20,8192}", _is_token),
    _key("slack", "xox", r"[abeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,8192}", _has_digit),
    _key("slack", "xapp-", r"[A-Za-z0-9-]{20,8192}", _has_digit),
    Pattern(
        "slack",
        lazy_pattern(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_+-]{20,8192})"),
        holds=("hooks.slack.com",),
    ),
    _key("google", "AIza", r"[0-9A-Za-z_-]{35}"),
    _key("google", "ya29.", r"[0-9A-Za-z_-]{20,8192}"),
    _key("hugging-face", "hf_", r"[A-Za-z0-9]{30,8192}"),
    _key("jwt", "eyJ", r"[A-Za-z0-9_-]{10,8192}\.eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,8192}"),
    *map(_parameter_pattern, (r"\?", "&(?:amp;)?", r"\\u0026", "%26", "%3f")),
    Pattern(
        "password",
        lazy_pattern(r"://[^/\s:@\[\]\"'<>]{0,99}:(?P<secret>[^/\s:@\[\]\"'<>\\]{1,200})@"),
        holds=("@", "://"),
    ),
)

KINDS = frozenset({"cookie", *(pattern.kind for pattern in PATTERNS)})


# Occurrences of a character up to which checking each is faster than a search for literals.
_FEW_OCCURRENCES = 64


@dataclass(frozen=True, slots=True)
class _Literals:
    """Literals that share a rare character. A search for this character takes a thirtieth of the time of a search for
    one literal. If there are many literals, `around` finds any of them; otherwise `around` is None."""

    rarest: str
    literals: tuple[str, ...]
    around: re.Pattern[str] | None

    @classmethod
    def group_literals(cls, rarest: str, literals: tuple[str, ...]) -> "_Literals":
        if len(literals) < 4:
            return cls(rarest, literals, None)
        ways = []
        for literal in literals:
            before, _, after = literal.partition(rarest)
            ways.append(f"(?<={re.escape(before + rarest)}){re.escape(after)}")
        return cls(rarest, literals, re.compile(f"{re.escape(rarest)}(?:{'|'.join(ways)})"))

    def occur_in(self, text: str) -> bool:
        if self.around is not None and text.count(self.rarest) <= _FEW_OCCURRENCES:
            return self.around.search(text) is not None
        return any(map(text.__contains__, self.literals))


def _group_by_rarest(literals: Iterable[str]) -> tuple[_Literals, ...]:
    found: dict[str, tuple[str, ...]] = {}
    for literal in dict.fromkeys(literals):
        rarest = next(character for character in (*"@_JK2?&%zIx/k-", literal[0]) if character in literal)
        found[rarest] = (*found.get(rarest, ()), literal)
    return tuple(_Literals.group_literals(rarest, those) for rarest, those in found.items())


_EXACT_LITERALS = _group_by_rarest(pattern.holds[0] for pattern in PATTERNS if not pattern.lowered)
_LOWER_CASE_LITERALS = _group_by_rarest(["cookie", *(one.holds[0] for one in PATTERNS if one.lowered and not one.some)])
_PARAMETER_LITERALS = _group_by_rarest(pattern.holds[0] for pattern in PATTERNS if pattern.some)


def may_match(text: str) -> bool:
    """Return False only if no pattern matches in `text` and it has no cookie. Letters after a backslash need not be
    decoded (`recordings.secrets.escapes.undo_letters`), because no literal contains the decoded characters."""
    if _holds_any(text, _EXACT_LITERALS):
        return True
    lower = to_lower(text)
    if _holds_any(lower, _LOWER_CASE_LITERALS):
        return True
    return _holds_any(lower, _PARAMETER_LITERALS) and any(map(lower.__contains__, _PARTS_OF_PARAMETERS))


def _holds_any(text: str, groups: tuple[_Literals, ...]) -> bool:
    for group in groups:  # noqa: SIM110 - a generator would cost as much as the looks do
        if group.rarest in text and group.occur_in(text):
            return True
    return False


_AFTER_NAME = r"(?:\\*+[\"'])?\s{0,8}[:,]\s{0,8}"
_WITHIN_HEADER = rf"(?!cookie{_AFTER_NAME})"  # a header's value ends where the next header begins
_COOKIES = lazy_pattern(
    rf"cookie(?:(?<=set-cookie)(?<![a-z0-9_-]set-cookie)|(?<![a-z0-9_-]cookie)){_AFTER_NAME}"
    rf"(?P<value>\[(?:{_WITHIN_HEADER}[^\[\]]){{0,4096}}+\]|\\*+\"(?:{_WITHIN_HEADER}(?:[^\"\\]|\\(?!\")[^\"])){{1,16384}}"
    rf"|[a-z0-9!#$%&'*+.^_`|~-]{{1,99}}+=(?:{_WITHIN_HEADER}[^\r\n\"']){{1,16384}})"
)
_VALUE = r"[A-Za-z0-9!#$%&*+.^_`|~-]{1,99}=(?P<secret>[^;,\s\"'\\\[\]]{1,8192})"
_FIRST_COOKIE = lazy_pattern(rf"(?:[\"',;\[\\]\s{{0,8}}){{0,8}}{_VALUE}")
_NEXT_COOKIE = lazy_pattern(rf"[\"',;]\s{{0,8}}{_VALUE}")
_ATTRIBUTE = lazy_pattern(r"\W{0,120}(?:expires|max-age|domain|path|samesite|priority|version|comment)=")


# No value or search of a header continues across this; across a backslash before it one could.
_BOUNDARY = lazy_pattern(rf"cookie(?<!\\cookie)(?={_AFTER_NAME})")

# Characters before `cookie` that determine whether it names a header.
_PREFIX_LENGTH = len("-set-")


def cookies(searched: SearchedText) -> list[Span]:
    """Return the places of cookie values in the headers `Cookie` and `Set-Cookie`. A reply may contain a million
    headers, most of them equal, so the text between two headers is searched once, however often the text occurs."""
    if not (searched.contains("=") and searched.contains_in_any_case("cookie")):
        return []
    text, lower = searched.text, searched.lower
    begins = [0, *map(re.Match.start, _BOUNDARY.finditer(lower))]
    firsts = [begin - _PREFIX_LENGTH if begin > _PREFIX_LENGTH else 0 for begin in begins]
    places = list(zip(firsts, [*begins[1:], len(text)]))
    parts = [text[first:end] for first, end in places]
    values = {
        part: list(_cookie_values(part, lower[first:end])) for part, (first, end) in dict(zip(parts, places)).items()
    }
    if not any(values.values()):
        return []
    return [
        (first + start, first + stop, "cookie") for first, part in zip(firsts, parts) for start, stop in values[part]
    ]


def _cookie_values(text: str, lower: str) -> Iterator[tuple[int, int]]:
    if "=" not in text:
        return
    for header in _COOKIES.finditer(lower):
        at, end = header.span("value")
        cookie = _FIRST_COOKIE.match(text, at, end)
        while cookie is not None:
            if not _ATTRIBUTE.match(lower, cookie.start()):
                yield cookie.span("secret")
            cookie = _NEXT_COOKIE.search(text, cookie.end(), end)
