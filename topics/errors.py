"""Errors in a user's files and arguments, and the names that a message suggests for a misspelt one.

    HarvestError            base class of every error that Harvest raises on purpose
    └── InputError          a file or an argument is wrong: what is wrong, where, what is allowed, what to do

The command line prints an `InputError` without a traceback and exits with 2. The errors of drivers are defined in
`harvest.systems.driver`, those of a run folder in `recordings.files.errors`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath


class HarvestError(Exception):
    """Base class of all errors that Harvest raises on purpose. `str(error)` is a message for people."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, printed as `path:line:column`. Line and column start at 1; 0 means unknown."""

    path: str
    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, path: str | PathLike[str], line: int = 0, column: int = 0) -> "Place":
        """Create a place from a path of any type."""
        return cls(fspath(path), line, column)

    def __str__(self) -> str:
        parts = [self.path]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class InputError(HarvestError):
    """A user's mistake in a file or an argument. `what` states the fault in one clause, and `place` is its place, if
    known. `allowed` says what would be accepted there, and `advice` what to do."""

    def __init__(
        self,
        what: str,
        *,
        place: Place | None = None,
        allowed: str | None = None,
        advice: str | None = None,
    ) -> None:
        self.what, self.place, self.allowed, self.advice = what, place, allowed, advice
        head = f"{place}: {what}" if place else what
        lines = [head]
        if allowed:
            lines.append(f"  allowed: {allowed}")
        if advice:
            lines.append(f"  do: {advice}")
        super().__init__("\n".join(lines))


def nearest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `word`, ignoring capitals, or None if no name is similar."""
    from difflib import get_close_matches  # late: only a mistake needs it

    folded = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `: did you mean 'markov'?` for the end of a message, or "" if no name is similar."""
    found = nearest_name(word, known)
    return "" if found is None else f": did you mean {found!r}?"
