"""A recurring job for any scheduler, with a command, its folder and its time.

The minute is drawn from the audit's name. Most jobs start on the hour, and an audited service should not be contacted
by all its auditors at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from topics.errors import InputError
from topics.identity import derived_seed
from topics.names import ascii_name

Every = Literal["hour", "day", "week", "month"]
EVERY: tuple[Every, ...] = ("hour", "day", "week", "month")

# Exit code of `flock` if the last audit is still playing: EX_TEMPFAIL, not a code of Harvest.
BUSY = 75

_MINUTES = tuple(minute for minute in range(1, 60) if minute % 15)
_HOURS = (4, 5)  # at night, but not in hours that a change of clocks skips or repeats
_CONFIRM_AFTER = 6  # hours after an audit, another one follows its alarm or its fall
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Slot:
    """A recurring time: a minute from 1 to 59 that is not on a quarter of an hour, an hour (4 or 5), a weekday from 1
    (Monday) to 5, and a day from 1 to 28."""

    minute: int
    hour: int
    weekday: int
    day: int


def slot_of(name: str) -> Slot:
    """Return the time for an audit, which depends only on the audit's name."""

    def draw_number(what: str, among: Sequence[int]) -> int:
        return among[derived_seed(0, "schedule", what, name) % len(among)]

    return Slot(
        draw_number("minute", _MINUTES),
        draw_number("hour", _HOURS),
        draw_number("weekday", range(1, 6)),
        draw_number("day", range(1, 29)),
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A recurring command.

    `name` is the name of the audit. `words` are the command, starting with the absolute path of `harvest`, and
    `folder` is its working directory. `lock` and `log` are files. `environment` is a file of `NAME=value` lines,
    which is read first if there are `variables`. Raises InputError for a path, option or variable name that is not
    possible in every scheduler.
    """

    name: str
    every: Every
    words: tuple[str, ...]
    folder: Path
    lock: Path
    log: Path
    environment: Path
    variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in (*self.words, *map(str, (self.folder, self.lock, self.log, self.environment))):
            # cron removes a backslash before %, and at the end of a path systemd reads it as a line
            # that continues.
            if not word.isprintable() or "${{" in word or "\\" in word:
                allowed = "printable characters, without ${{ and without backslashes"
                raise InputError(f"{word!r} cannot be used in a schedule", allowed=allowed)
        for name in self.variables:
            if not _VARIABLE.fullmatch(name):
                raise InputError(
                    f"{name!r} cannot be the name of an environment variable",
                    allowed="letters (a to z), digits and _, with no digit at the beginning",
                )

    @property
    def confirms(self) -> bool:
        """True if the job only follows an alarm or a fall. It then runs at another hour than the job it follows."""
        return "--if-alarm" in self.words

    @property
    def follow_up(self) -> "Job | None":
        """The job that plays again, hours later and then daily, where an alarm or a fall waits for another audit: with
        weeks between its audits, a fall that lasts three weeks may be over before it is confirmed. None if the job is
        itself such a job, or plays every hour."""
        if self.confirms or self.every == "hour":
            return None
        return replace(self, every="day", words=(*self.words, "--if-alarm"))

    @property
    def slot(self) -> Slot:
        drawn = slot_of(self.name)
        if not self.confirms:
            return drawn
        return replace(drawn, hour=drawn.hour + _CONFIRM_AFTER, minute=(drawn.minute + 30) % 60)

    @property
    def unit(self) -> str:
        """The name of the job's files, units and groups."""
        return unit_name(self.name) + ("-confirm" if self.confirms else "")

    @property
    def sentence(self) -> str:
        """A description of the job and its time."""
        only = ", but only if an alarm or a fall waits for another audit" if self.confirms else ""
        return f"{self.name} is audited again every {self.every}{only}; the minute is drawn from its name."


def unit_name(name: str) -> str:
    """Return the audit's name in a form that is valid for files, units and groups, such as `harvest-weekly`."""
    return "harvest-" + ascii_name(name, r"[^A-Za-z0-9._-]+")
