"""What well-known secrets look like, so that they are found even where nobody told us about them.

The patterns are ours. Those of `detect-secrets` 1.5.0 were looked at: it takes 0.36 s to import (it brings `requests`
along), yields what was found but not where, reads line by line (a private key has many lines), and its keyword and
entropy detectors fire on identifiers and hashes, which a recording is full of. Here a pattern names its span, and
is only kept if a test over ordinary texts shows that it leaves them alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["PATTERNS", "Pattern"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """kind: as in `[redacted:<kind>]`. hints: lower-case texts, one of which stands in every match (a quick test).

    The group `secret` of `expression` is replaced. sure: a last look at the match, where shape alone would also
    take ordinary text.
    """

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]
    sure: Callable[[str], bool] = bool


_NOT_BEFORE = r"(?<![A-Za-z0-9_-])"
_NOT_AFTER = r"(?![A-Za-z0-9_-])"


def _mixed(text: str) -> bool:
    """Digits, and letters of both cases or one long run: `sk-bratislava-2023-hotels` is a slug, not a key."""
    if not any(character.isdigit() for character in text):
        return False
    return text.lower() != text or max(map(len, re.split("[-_.]", text))) >= 20


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _credentials(text: str) -> bool:
    """Base64 of `name:password`: `Authorization: Basic understanding` is prose."""
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False


def _token(text: str) -> bool:
    """Not a word, and not a placeholder such as YOUR_API_KEY."""
    return _has_digit(text) or (text.lower() != text and text.upper() != text)


def _token_pattern(kind: str, hint: str, shape: str, sure: Callable[[str], bool] = bool) -> Pattern:
    return Pattern(kind, (hint,), re.compile(f"{_NOT_BEFORE}(?P<secret>{shape}){_NOT_AFTER}"), sure)


_QUOTE = r"(?:\\*[\"']|%22|&quot;)?"
_SEPARATOR = rf"{_QUOTE}\s{{0,8}}[:=,]\s{{0,8}}\[?{_QUOTE}\s{{0,8}}"
_AUTHORIZATION = rf"(?i:\b(?:proxy-)?authorization{_SEPARATOR})"
_PARAMETERS = (
    "api[_-]?key|(?:access|auth|refresh|id|session|security|bearer)[_-]?token|token|password|passwd|pwd|"
    "client[_-]?secret|secret|x-amz-(?:signature|security-token|credential)"
)
_PEM_LINE = r"(?:\\+[rn]|\s){1,8}[A-Za-z0-9+/=]{16,}"
_COOKIE_VALUE = r"(?P<secret>[^;,\s\"'\\\[\]]+)"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "private-key",
        ("private key",),
        re.compile(
            r"(?P<secret>-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^\"'<>-]|-(?!----)){0,16384}-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            rf"|(?:{_PEM_LINE})+))"
        ),
    ),
    Pattern(
        "bearer",
        ("authorization",),
        re.compile(rf"{_AUTHORIZATION}(?i:bearer|token)\s{{1,8}}(?P<secret>[A-Za-z0-9._~+/=-]{{8,}})"),
        _token,
    ),
    Pattern(
        "basic",
        ("authorization",),
        re.compile(rf"{_AUTHORIZATION}(?i:basic)\s{{1,8}}(?P<secret>[A-Za-z0-9+/_-]{{4,}}={{0,2}})"),
        _credentials,
    ),
    Pattern(
        "api-key",
        ("api-key",),
        re.compile(rf"(?i:(?<![a-z0-9])api-key{_SEPARATOR})(?P<secret>[A-Za-z0-9._~+/=-]{{12,}})"),
        _mixed,
    ),
    _token_pattern("api-key", "sk-", r"sk-[A-Za-z0-9_-]{20,}", _mixed),
    _token_pattern("api-key", "k_live_", r"[sr]k_live_[A-Za-z0-9]{16,}"),
    _token_pattern("api-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _token_pattern("aws", "akia", r"AKIA[A-Z0-9]{16}"),
    _token_pattern("aws", "asia", r"ASIA[A-Z0-9]{16}", _has_digit),
    _token_pattern("github", "gh", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _token_pattern("github", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,}"),
    _token_pattern("gitlab", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}", _token),
    _token_pattern("slack", "xox", r"xox[abeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}", _has_digit),
    _token_pattern("slack", "xapp-", r"xapp-[A-Za-z0-9-]{20,}", _has_digit),
    Pattern(
        "slack",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_+-]{20,})"),
    ),
    _token_pattern("google", "aiza", r"AIza[0-9A-Za-z_-]{35}"),
    _token_pattern("google", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,}"),
    _token_pattern("hugging-face", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token_pattern("jwt", "eyj", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    Pattern(
        "parameter",
        ("token", "secret", "key", "pass", "pwd", "x-amz-"),
        re.compile(
            rf"(?i:[?&]|&amp;|\\u0026|%26|%3F)(?i:{_PARAMETERS})(?:=|%3[Dd])"
            r"(?P<secret>(?:(?!%26|%23)[^&#\s\"'<>\\\[\]])+)"
        ),
    ),
    Pattern("password", ("://",), re.compile(r"://[^/\s:@\[\]\"'<>]{0,99}:(?P<secret>[^/\s:@\[\]\"'<>\\]{1,200})@")),
)
"""In the order in which they are looked for. `Cookie` and `Set-Cookie` are in `recordings.redaction`."""
