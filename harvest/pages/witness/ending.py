"""A site's signal that a reply is complete: messages that follow its last text and never come before it.

A socket stays open after a reply, so its only other end is silence. Many sites then send something else: `task_end`,
`done: true`. Which message is the signal is learnt from turns with complete replies.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from harvest.pages.witness.opening import Leaf, Shape
from harvest.pages.witness.received import general

_ENOUGH = 3  # turns after which a sign is believed …
_FEWEST = 2  # … and if it came at once in all of them
_AT_ONCE = 0.25  # seconds after the last text
PROMPT = 1.0  # seconds after the last text: later messages come by themselves, as heartbeats do
_MOSTLY = 0.9  # share of the turns in which it must have come
_MOST_FORMS = 200  # most forms that are remembered


@dataclass(slots=True)
class Endings:
    """Signals learnt from the turns of one site; shared by its conversations."""

    _turns: int = 0
    _after: Counter[str] = field(default_factory=Counter)
    _at_once: Counter[str] = field(default_factory=Counter)
    _before: set[str] = field(default_factory=set)

    def learn(self, shapes: Sequence[Shape], last_text: float) -> None:
        """Learn from a complete reply. shapes: of all messages of the turn. last_text: when its last piece came."""
        self._turns += 1
        # A form that even once came before the last text, or long after it, is never a sign.
        self._before |= {shape.form for shape in shapes if not 0 < shape.at - last_text <= PROMPT}
        after = {shape.form for shape in shapes if shape.at > last_text} - self._before
        if len(self._after) < _MOST_FORMS:
            self._after.update(after)
            self._at_once.update({shape.form for shape in shapes if shape.at <= last_text + _AT_ONCE} & after)

    def distrust(self, forms: Collection[str]) -> None:
        """Do not use these forms as signals any more: text came after them, or they came without a reply."""
        self._before |= set(forms)

    @property
    def signs(self) -> frozenset[str]:
        """The forms that signal an end here; empty until enough was learnt."""
        if self._turns < _FEWEST:
            return frozenset()
        counts = self._after if self._turns >= _ENOUGH else self._at_once
        often = (form for form, count in counts.items() if count >= _MOSTLY * self._turns)
        return frozenset(often) - self._before


def last_text(leaves: Sequence[Leaf], places: Collection[tuple[str, str]]) -> float | None:
    """Return when the last piece of a reply came, or None. places: addresses and general paths of its pieces."""
    return max((leaf.at for leaf in leaves if (leaf.address, general(leaf.path)) in places), default=None)
