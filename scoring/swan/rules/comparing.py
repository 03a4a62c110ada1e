"""Compare claims of one normal form: which agree, and which cannot both be true."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from scoring.swan.rules.normal_form import Form

_T = TypeVar("_T")
_FRONT = frozenset({"in", "on", "at", "by", "since", "until", "before", "after", "from", "during"})
_LEAST = 3  # words of a claim: "Room 1" and "Room 2" do not contradict each other
_MOST = 50  # claims with the same words that are kept


def compare_claims(one: Form, other: Form) -> bool | None:
    """True if two claims of the same words agree; None if they cannot be compared.

    That is so under three words, with a condition, in reported speech, or with several different values.
    """
    if one.words != other.words or len(one.words) < _LEAST or one.shaded or other.shaded:
        return None
    apart = [place for place, (a, b) in enumerate(zip(one.values, other.values, strict=True)) if not a.agrees(b)]
    if one.negated != other.negated:
        return None if apart else False
    if len(apart) > 1:
        return None
    if apart:
        # A value in an opening phrase such as `In 1990` is a time or place, not the claim.
        spots = [at for at, word in enumerate(one.words) if word.startswith("#")]
        if spots[apart[0]] <= 1 and one.words[0] in _FRONT and len(spots) > 1:
            return None
    return not apart


@dataclass(slots=True)
class Claims(Generic[_T]):
    """Claims and what they belong to, by their words: the first of equal ones, and at most 50, to keep time linear."""

    known: dict[tuple[str, ...], dict[Form, _T]] = field(default_factory=dict)

    def add(self, form: Form, of: _T) -> None:
        same = self.known.setdefault(form.words, {})
        if len(same) < _MOST:
            same.setdefault(form, of)

    def compare(self, form: Form) -> Iterator[tuple[bool, _T]]:
        """Compare a claim with each that it can be compared with; True for those that agree."""
        for other, of in self.known.get(form.words, {}).items():
            agree = compare_claims(form, other)
            if agree is not None:
                yield agree, of
