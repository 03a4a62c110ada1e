"""How a site says on the wire that a reply is whole: messages that follow its last text, and never come before it.

A socket stays open after a reply, so that nothing but silence would tell its end. Many sites send something else then:
`task_end`, `done: true`. Which of them it is, nobody says; it is learnt from turns whose replies were found whole.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from harvest.pages.witness.opening import Leaf, Shape
from harvest.pages.witness.received import general

_ENOUGH = 3  # turns after which a sign is believed …
_FEWEST = 2  # … and where it came at once in all of them
_AT_ONCE = 0.25  # seconds after the last text
PROMPT = 1.0  # seconds after the last text within which it comes: what comes later comes by itself, as heartbeats do
_MOSTLY = 0.9  # of the turns in which it must have come
_MOST_FORMS = 200  # of last pieces that are remembered


@dataclass(slots=True)
class Endings:
    """What the turns of one site taught. Shared by its conversations."""

    _turns: int = 0
    _after: Counter[str] = field(default_factory=Counter)
    _at_once: Counter[str] = field(default_factory=Counter)
    _before: set[str] = field(default_factory=set)

    def learn(self, shapes: Sequence[Shape], last_text: float) -> None:
        """A reply was whole. shapes: of all messages of the turn. last_text: when the last one came that held a piece
        of it."""
        self._turns += 1
        # What came before the last text even once is no sign, now or ever; nor is what came long after it.
        self._before |= {shape.form for shape in shapes if not 0 < shape.at - last_text <= PROMPT}
        after = {shape.form for shape in shapes if shape.at > last_text} - self._before
        if len(self._after) < _MOST_FORMS:
            self._after.update(after)
            self._at_once.update({shape.form for shape in shapes if shape.at <= last_text + _AT_ONCE} & after)

    def distrust(self, forms: Collection[str]) -> None:
        """More came after these, or they came by themselves."""
        self._before |= set(forms)

    @property
    def signs(self) -> frozenset[str]:
        """The forms that tell an end here; none before enough was learnt."""
        if self._turns < _FEWEST:
            return frozenset()
        counts = self._after if self._turns >= _ENOUGH else self._at_once
        often = (form for form, count in counts.items() if count >= _MOSTLY * self._turns)
        return frozenset(often) - self._before


def last_text(leaves: Sequence[Leaf], places: Collection[tuple[str, str]]) -> float | None:
    """When the last piece of a reply came. places: address and general path of its pieces; None where none came."""
    return max((leaf.at for leaf in leaves if (leaf.address, general(leaf.path)) in places), default=None)
