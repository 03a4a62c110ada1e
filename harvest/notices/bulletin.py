"""One list of verdicts, which every form for machines carries.

Nothing in it is a text of a conversation, but some of it was worded by systems (a model's name), so every form takes
its texts from `plain`, which no text can leave as anything but a short line.
"""

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
    """`text` as one line of at most 500 characters, with what steers or cannot be written shown instead."""
    cut = text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
    return _NOT_XML.sub(lambda found: f"<U+{ord(found[0]):04X}>", printable(cut, line=True))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its interval; NaN where there is none."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Notice:
    """What one figure of a system came to.

    code: the exit code that it alone leads to: 0, 1 or 3. sentence: for people. now: the figure. before: that of the
    baseline. moved: the difference of the two. n: what `now` is made of. decides: it can change an exit code. alarm:
    one was raised that no other audit has confirmed yet. word: what people read as the verdict, "" for the verdict.
    limit: of a threshold.
    """

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
    """Of one system. details: further lines for people, in which a system may have words of its own."""

    system: str
    sentence: str
    notices: tuple[Notice, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bulletin:
    """Of one audit. command: `reaudit`, `run` or `score`. run: a folder. at: seconds since 1970. code: to exit with."""

    command: str
    audit: str
    run: str
    at: float
    verdict: str
    code: int
    accounts: tuple[Account, ...]

    @property
    def measured(self) -> bool:
        """Whether it says anything of the systems: the exit code is not 3."""
        return self.code in (0, 1)

    @property
    def sentence(self) -> str:
        """One line that says all: `weekly: changed. mine: ave%useful changed by -15.2 points [-21.0, -9.0] since …`."""
        return f"{self.audit}: {self.verdict}. " + "; ".join(one.sentence for one in self.accounts)

    def counted(self) -> Counter[Verdict]:
        """How often each verdict was given by what decides."""
        return Counter(one.verdict for account in self.accounts for one in account.notices if one.decides)
