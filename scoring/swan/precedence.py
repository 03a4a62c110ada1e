"""Whose judgments count, in the notation `human,rule`, or `human:anna,human,model`."""

from __future__ import annotations

from dataclasses import dataclass

from recordings.judged.judgments import KINDS
from scoring.swan.votes import USUAL
from topics.errors import InputError


@dataclass(frozen=True, slots=True)
class Precedence:
    """Whose judgments are used, in order: kinds, or kind and author.

    nuggets: whose nuggets are scored, by the author of a layer or `author/version`; `rules` for those that the rules
    find now; "" for those of the newest layer of a kind that is used (other than a model), or else the rules'. folding:
    how the votes of several authors become one: one of `FOLDINGS` or a judge's name.
    """

    entries: tuple[tuple[str, str], ...] = (("human", ""), ("rule", ""))
    nuggets: str = ""
    folding: str = USUAL

    @staticmethod
    def parse(text: str) -> Precedence:
        """Parse `human,rule` or `human:anna,human,model`. Raises InputError for an unknown kind, or one named twice."""
        entries = []
        for part in text.split(","):
            kind, _, author = part.strip().partition(":")
            if kind not in KINDS:
                raise InputError(f"{kind!r} is not a kind of judgment", allowed=", ".join(KINDS))
            if (kind, author) in entries:
                raise InputError(f"{part.strip()!r} appears twice in the precedence {text!r}")
            entries.append((kind, author))
        return Precedence(tuple(entries))

    @staticmethod
    def asked(judges: str | None, nuggets: str | None = None, folding: str | None = None) -> Precedence:
        """The precedence given to a command, with defaults for what was not given. Raises InputError as
        `parse` does.
        """
        entries = Precedence.parse(judges).entries if judges else Precedence().entries
        return Precedence(entries, nuggets or "", folding or USUAL)

    def __str__(self) -> str:
        return ",".join(f"{kind}:{author}" if author else kind for kind, author in self.entries)

    def rank(self, kind: str, author: str) -> int | None:
        """The index of the first entry that names the source; None if none does."""
        return next((i for i, entry in enumerate(self.entries) if entry[0] == kind and entry[1] in ("", author)), None)

    def uses(self, kind: str) -> bool:
        return any(entry[0] == kind for entry in self.entries)
