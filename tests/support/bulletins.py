"""Bulletins to write in every form, and a runner of workflow commands that understands what GitHub's does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from harvest.notices.bulletin import Account, Bulletin, Estimate, Notice
from tests.support.hostile_replies import NAMES

__all__ = ["AT", "HOSTILE_BULLETIN", "bulletin", "commands"]

AT = 1_800_000_000.0

CHANGED = Notice(
    "ave%useful",
    "changed",
    1,
    "ave%useful changed by -15.2 since the baseline (60.0%)",
    now=Estimate(0.448),
    before=0.6,
    moved=Estimate(-0.152, -0.21, -0.09),
    n=225,
)
SAME = Notice("%recovery", "same", 0, "%recovery is the same within 3 points", now=Estimate(0.5), before=0.5, n=90)
UNSURE = Notice("R", "cannot tell", 0, "R: cannot tell whether it changed (+.0010)", now=Estimate(0.1), before=0.099)
SHOWN = Notice("%useful S1", "changed", 0, "%useful S1: shown only", now=Estimate(0.4), decides=False)
DOWN = Notice("ave%useful", "not measured", 3, "could not be measured: none of 45 trials has a valid attempt")


def bulletin(*notices: Notice, code: int = 0, verdict: str = "same", details: tuple[str, ...] = ()) -> Bulletin:
    account = Account("mine", "mine: " + "; ".join(one.sentence for one in notices), notices, details)
    return Bulletin("watch run", "weekly", "runs/weekly/1", AT, verdict, code, (account,))


HOSTILE_BULLETIN = Bulletin(
    "watch run",
    "weekly",
    "runs/weekly/1",
    AT,
    "changed",
    1,
    tuple(
        Account(text, text, (Notice(text, "changed", 1, text, Estimate(0.5, 0.4, math.nan)),), (text, f"x{text}"))
        for text in NAMES
    ),
)
"""As if every word in it had been chosen by a system."""

_REGISTERED = {"error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output"}


def commands(log: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """(command, properties, data) of each line that a runner takes for one, in both of the forms it knows."""
    for line in re.split(r"\r\n|\n|\r", log):
        new = re.match(r"\s*::([^ :]+)(?: ((?:(?!::).)*))?::(.*)", line)
        old = re.search(r"##\[([^ \]]+)(?: ([^\]]*))?\](.*)", line)
        for found, separator in ((new, ","), (old, ";")):
            if found and found[1] in _REGISTERED:
                pairs = [one.partition("=") for one in (found[2] or "").split(separator) if one]
                yield found[1], {key: _unescaped(value) for key, _, value in pairs}, _unescaped(found[3])
                break


def _unescaped(text: str) -> str:
    for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, sign)
    return text
