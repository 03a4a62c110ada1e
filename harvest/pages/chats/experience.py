"""What the answers so far taught about a site: which of its signs end, how soon they come, how long its text pauses.

It is shared by the conversations with one site, so that what one of them learnt is known to the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

__all__ = ["Experience"]

_ENOUGH = 2  # answers after which it is known how soon a sign comes
_KEPT = 8  # the last ones of which that is kept
_LATER = 1.5  # times as late as ever before a sign may come …
_SLACK = 0.5  # … and seconds more
_NOISE = 0.3  # seconds by which times differ that are the same


@dataclass(slots=True)
class Experience:
    """ended: signs that came and went with a whole answer. stayed: those that stood on behind an answer that was whole
    by all else that the page showed, once; mistrusted: and a second time. unsteady: signs that were missing, or gone,
    while text still came. alone: the quiet in seconds that an answer needs here where no sign tells its end, 0 where
    nothing was learnt. launchers: selectors of what has to be pressed before the chat is there.
    """

    ended: set[str] = field(default_factory=set)
    stayed: set[str] = field(default_factory=set)
    mistrusted: set[str] = field(default_factory=set)
    unsteady: set[str] = field(default_factory=set)
    alone: float = 0.0
    launchers: set[str] = field(default_factory=set)
    _onsets: dict[str, deque[tuple[float, float]]] = field(default_factory=dict)

    def finished(
        self, ended: Collection[str], came: Mapping[str, float], lasted: Collection[str], began: float, last: float
    ) -> None:
        """An answer was whole.

        ended: the signs that had gone. came: when each sign was first there. lasted: those that were there to the end
        of the text. began, last: of its first and last word. All in seconds after the sending.
        """
        self.ended |= set(ended)
        self.mistrusted -= set(ended)
        self.stayed -= set(ended)
        for sign in self._onsets:
            due = self.due(sign, began)
            if (sign in came and sign not in lasted) or (sign not in came and due is not None and last > due):
                self.unsteady.add(sign)
        for sign in lasted:
            if sign in came:
                self._onsets.setdefault(sign, deque(maxlen=_KEPT)).append((came[sign], came[sign] - began))

    def believes(self, signs: Collection[str], *, whole: bool) -> bool:
        """Whether a text after which `signs` never end may be considered a complete answer.

        whole: whether all else that the page showed says so: a firm sign went with the text to its end. Without that
        it may as well be half an answer, however often it happens. Not where one of the signs has been seen to end:
        then this answer broke off. And not the first time: a stream that breaks off looks the same.
        """
        stuck = set(signs)
        if not whole or stuck & self.ended:
            return False
        known = stuck <= self.stayed
        self.stayed |= stuck
        if known:
            self.mistrusted |= stuck
        return known

    def went_on(self, pause: float, most: float) -> None:
        """An answer that was considered complete went on after more than `pause` seconds. most: the longest quiet to
        ask for."""
        self.alone = min(most, max(self.alone, 1.5 * pause))
        self.unsteady |= self._onsets.keys()

    def missing(self, came: Collection[str], began: float) -> float | None:
        """Seconds after the sending from which on a sign would be there if more of the answer were to come; None where
        no sign is known that well. came: the signs that were there in this turn: a sign that came tells for itself.
        """
        dues = (self.due(sign, began) for sign in self._onsets.keys() - self.unsteady - self.mistrusted - set(came))
        return min((due for due in dues if due is not None), default=None)

    def due(self, sign: str, began: float) -> float | None:
        """Seconds after the sending by which the sign is there, if it comes at all; None: not known. began: of the
        first word.

        Pages show a sign so long after the sending, or so long after the first word: whichever clearly varied less.
        """
        onsets = self._onsets.get(sign, ())
        if len(onsets) < _ENOUGH:
            return None
        sent, word = [after for after, _ in onsets], [max(0.0, after) for _, after in onsets]
        by_sending, by_word = _LATER * max(sent) + _SLACK, began + _LATER * max(word) + _SLACK
        steadier = (max(word) - min(word)) - (max(sent) - min(sent))
        if abs(steadier) <= _NOISE:
            return max(by_sending, by_word)
        return by_sending if steadier > 0 else by_word
