"""The order in which judgments take precedence, written as `human,rule` or `human:anna,human,model`."""

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from recordings.judged.judgments import KINDS
from scoring.swan.item import Source
from topics.errors import InputError, Place

DEFAULT_FOLDING = "distribution"
_MEAN, _MAJORITY, _ADJUDICATED = "mean", "majority", "adjudicated"
FOLDINGS = (DEFAULT_FOLDING, _MEAN, _MAJORITY, _ADJUDICATED)


@dataclass(frozen=True, slots=True)
class Vote:
    """One author's judgment of one item. `value` is a score in [0, 1], a value of the criterion, or None for "does
    not apply". `rank` is the index of the source in the precedence, and `place` the place in a file. If
    `adjudicates`, the author saw the other judgments and decided between them."""

    value: float | str | None
    by: Source
    rank: int
    place: Place
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judgment that counts for an item.

    - `value`: a score in [0, 1], or None for "does not apply" and for criteria with values.
    - `share`: the share, in (0, 1], of the votes that say that the criterion applies, or 1 if `value` is None.
    - `by`: the first voter.
    - `disputed`: True if another usable source gave another value. A revision by the same author is not a dispute.
    - `rank`: the index in the precedence.
    - `votes`: all votes that count, by author.
    - `equals`: differing votes of equal precedence that were not combined.
    - `decided`: the values of the votes that an adjudicator's vote replaces.
    - `shares`: for a criterion with values, the share of the votes for each value.
    """

    value: float | None
    by: Source
    disputed: bool
    rank: int
    votes: tuple[Vote, ...]
    share: float = 1.0
    equals: tuple[Vote, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()
    decided: tuple[float | str | None, ...] = ()

    @property
    def absent(self) -> bool:
        """True if the criterion does not apply."""
        return self.value is None and not self.shares


def named_judge(folding: str) -> tuple[str, str]:
    """Return the kind ("" for any kind) and author of a judge named by `folding`, or two empty strings."""
    if folding in FOLDINGS:
        return "", ""
    kind, mark, author = folding.partition(":")
    return (kind, author) if mark else ("", folding)


def combine_votes(given: Collection[Vote], folding: str) -> Opinion | None:
    """Combine the judgments of several authors, one from each. Returns None if the method `folding` uses none of
    them."""
    kind, author = named_judge(folding)
    used = [one for one in given if not author or (one.by.author == author and kind in ("", one.by.kind))]
    referees = [one for one in used if one.adjudicates]
    decided: tuple[float | str | None, ...] = ()
    if folding == _ADJUDICATED and referees:
        decided, used = tuple(one.value for one in used if not one.adjudicates), referees
    elif not author:
        # An adjudicator has seen the others' votes and does not vote, unless nobody else judged.
        used = [one for one in used if not one.adjudicates] or referees
    if not used:
        return None
    rank = min(one.rank for one in used)
    votes = tuple(sorted((one for one in used if one.rank == rank), key=lambda one: (one.by.kind, one.by.author)))
    said = {one.value for one in votes}
    disputed = len({one.value for one in given}) > 1
    unsettled = votes if len(said) > 1 and folding == _ADJUDICATED else ()
    counted = votes[:1] if unsettled or len(said) == 1 else votes
    if folding == _MAJORITY and len(said) > 1:
        counts = Counter(one.value for one in votes)
        most = max(counts.values())
        counted = tuple(one for one in votes if counts[one.value] == most)
    scores = [one.value for one in counted if isinstance(one.value, float)]
    named = [one.value for one in counted if isinstance(one.value, str)]
    value = math.fsum(scores) / len(scores) if scores else None
    shares = tuple((name, count / len(named)) for name, count in sorted(Counter(named).items()))
    applies = len(scores) + len(named)
    share = 1.0 if folding == _MEAN or not applies else applies / len(counted)
    return Opinion(value, votes[0].by, disputed, rank, votes, share, unsettled, shares, decided)


@dataclass(frozen=True, slots=True)
class Precedence:
    """The sources of judgments that are used, in order: kinds, or pairs of kind and author.

    `nuggets` selects the nuggets to score. It is the author of a layer, or `author/version`; or `rules` for the
    current rules; or `sentences`, `lines` or `turns` for whole sentences, lines or turns; or "" for the newest layer
    of a usable kind except models. If there is no such layer, "" means the rules. `folding` is how the votes of
    several authors are combined: a name in `FOLDINGS`, or the name of the only judge to use.
    """

    entries: tuple[tuple[str, str], ...] = (("human", ""), ("rule", ""))
    nuggets: str = ""
    folding: str = DEFAULT_FOLDING

    @staticmethod
    def parse(text: str) -> "Precedence":
        """Parse `human,rule` or `human:anna,human,model`. Raises InputError for an unknown kind or a repeated entry."""
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
    def from_options(judges: str | None, nuggets: str | None = None, folding: str | None = None) -> "Precedence":
        """Return the precedence for the options of a command, with defaults. Raises InputError as `parse` does."""
        for option, given in (("--judges", judges), ("--nuggets", nuggets), ("--judgments", folding)):
            if given == "":
                raise InputError(f"{option} is empty", advice="leave the option out for its default")
        entries = Precedence.parse(judges).entries if judges else Precedence().entries
        return Precedence(entries, nuggets or "", folding or DEFAULT_FOLDING)

    def __str__(self) -> str:
        return ",".join(f"{kind}:{author}" if author else kind for kind, author in self.entries)

    def rank(self, kind: str, author: str) -> int | None:
        """Return the index of the first entry that names the source, or None."""
        return next((i for i, entry in enumerate(self.entries) if entry[0] == kind and entry[1] in ("", author)), None)

    def uses(self, kind: str) -> bool:
        return any(entry[0] == kind for entry in self.entries)
