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

    That is the case for other words, fewer than three words, a condition, reported speech, or several differing values,
    which may be of another time or place.
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
    """Claims with the things they belong to, by their words. Of equal claims only the first is kept, and at most 50
    with the same words, so that long texts take linear time.
    """

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
