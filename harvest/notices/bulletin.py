"""The list of verdicts behind every output format for machines. It contains no text of a conversation, but systems may
choose some words (a model's name), so every format passes its texts through `plain`, which returns a short, safe
line."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from harvest.terminal import printable

Verdict = Literal["changed", "same", "missed", "kept", "cannot tell", "not measured"]

_MOST = 500  # characters of a sentence
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """Return `text` as one line of at most 500 characters, with control and unwritable characters shown as symbols."""
    cut = text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
    return _NOT_XML.sub(lambda found: f"<U+{ord(found[0]):04X}>", printable(cut, line=True))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its interval; NaN if undefined."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Notice:
    """The verdict on one figure of a system. code: its own exit code: 0, 1 or 3. sentence: for people. now: the figure.
    before: the figure of the baseline. moved: the difference. n: the number of units behind `now`. decides: whether it
    can change an exit code. alarm: True if an alarm still waits to be confirmed by another audit. word: the verdict for
    people, if different. limit: the limit of a threshold."""

    figure: str
    verdict: Verdict
    code: int
    sentence: str
    now: Estimate = field(default_factory=Estimate)
    before: float = math.nan
    moved: Estimate = field(default_factory=Estimate)
    n: int = 0
    decides: bool = True
    alarm: bool = False
    word: str = ""
    limit: float = math.nan

    @property
    def said(self) -> str:
        return self.word or self.verdict


@dataclass(frozen=True, slots=True)
class Account:
    """The notices of one system. details: further lines for people, which may contain the system's own words."""

    system: str
    sentence: str
    notices: tuple[Notice, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bulletin:
    """The notices of one audit. command: `reaudit`, `run` or `score`. run: a folder. at: seconds since 1970. code: the
    exit code."""

    command: str
    audit: str
    run: str
    at: float
    verdict: str
    code: int
    accounts: tuple[Account, ...]

    @property
    def measured(self) -> bool:
        """True unless the exit code is 3: the bulletin says something about the systems."""
        return self.code in (0, 1)

    @property
    def sentence(self) -> str:
        """A one-line summary: `weekly: changed. mine: ave%useful changed by -15.2 points [-21.0, -9.0] since …`."""
        return f"{self.audit}: {self.verdict}. " + "; ".join(one.sentence for one in self.accounts)

    def counted(self) -> Counter[Verdict]:
        """Return the number of times each verdict was given by notices that decide."""
        return Counter(one.verdict for account in self.accounts for one in account.notices if one.decides)
