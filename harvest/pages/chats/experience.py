"""Experience with a site from the answers so far: which signs end, how soon they appear, and how long the text pauses.
All conversations with the site share it."""

from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from harvest.pages.chats.taken import Change, ChangedAnswer
from harvest.pages.reading.page import letters

_PROVEN_COUNT = 6  # answers that a sign lasted to the end of, after which little quiet is required after it …
_PROVEN_ALONE_COUNT = 10  # … and if no other sign says so
_ENOUGH_ONSETS = 2  # answers after which it is known how soon a sign comes
_KEPT_ONSETS = 8  # the last answers for which the times of signs are kept
_TRAIL_COUNT = 3  # answers followed by requests that brought nothing, after which these are not awaited
_ONSET_FACTOR = 1.5  # times the latest appearance so far by which a sign may appear …
_ONSET_SLACK = 0.5  # … and seconds more
_PAUSE_FACTOR = 1.5  # times the pause of an answer that went on, for which the next ones are awaited
_ONSET_NOISE = 0.3  # seconds by which equal times may differ
_LONGEST_MARK = 6  # words of a mark on an answer, such as "edited" or "rated: not yet"; more words are a text
_MOST_WORDINGS = 200  # of answers that were replaced


@dataclass(frozen=True, slots=True)
class _SeenChange:
    """A change of the answer `said`, which came after `pause` seconds. `until` holds the values of (`alone`, `after`)
    before Harvest learnt from the change, and `since` holds the values afterwards."""

    said: str
    pause: float
    until: tuple[float, float]
    since: tuple[float, float]


@dataclass(slots=True)
class Experience:
    """What has been learnt about a site.

    - `ended`: signs that came and went with a complete answer.
    - `stayed`: signs that once remained after an answer that everything else on the page showed to be complete.
    - `mistrusted`: signs that remained twice and never ended.
    - `unsteady`: signs that were missing, or had gone, while text still came.
    - `alone`: seconds of quiet to require of an answer without signs; 0 if nothing was learnt.
    - `after`: seconds of quiet to require of an answer with signs, because text was once added after the signs had
      ended; 0 if nothing was learnt.
    - `launchers`: selectors of the buttons to press before the chat appears.
    - `untried`: how many more answers are given extra time because the site is new.
    - `unsettled`: how many more conversations are checked seconds after their end because the site is new.
    - `in_vain`: how often an answer grew although it had been given more time than the last growing answer.
    - `asks_on`: whether a page went on polling after an answer for as long as Harvest waits.
    - `speaks_alone`: whether a page that listens for an answer once answered although nothing came to it.
    - `trails`: number of answers after which requests continued for long and brought no text.
    """

    ended: set[str] = field(default_factory=set)
    stayed: set[str] = field(default_factory=set)
    mistrusted: set[str] = field(default_factory=set)
    unsteady: set[str] = field(default_factory=set)
    alone: float = 0.0
    launchers: set[str] = field(default_factory=set)
    after: float = 0.0
    untried: int = 0
    unsettled: int = 0
    in_vain: int = 0
    asks_on: bool = False
    speaks_alone: bool = False
    trails: int = 0
    _onsets: dict[str, deque[tuple[float, float]]] = field(default_factory=dict)
    _stood: Counter[str] = field(default_factory=Counter)  # answers that each sign lasted to the end of
    _passed: set[str] = field(default_factory=set)  # signs that text came after, even once
    _changes: dict[Change, _SeenChange] = field(default_factory=dict)  # of answers considered complete
    _habits: set[Change] = field(default_factory=set)
    _stand_ins: dict[str, float] = field(default_factory=dict)  # seconds before a text was replaced, by its letters

    def learn_answer(
        self,
        ended: Collection[str],
        came: Mapping[str, float],
        lasted: Collection[str],
        began: float,
        last: float,
        *,
        unclear: Collection[str] = (),
    ) -> None:
        """Learn from a complete answer; times are in seconds after the send. `ended` holds the signs that had gone,
        `came` the time when each sign first appeared, and `lasted` the signs that were present up to the end of the
        text. `began` and `last` are the times of the first and the last word; periods before the last word in which
        the page could not run are not counted. `unclear` holds the signs that ended with the only word of an
        answer. Such signs teach nothing."""
        self.ended |= set(ended)
        self.mistrusted -= set(ended)
        for sign in self._onsets.keys() - set(unclear):
            due = self.sign_due_at(sign, began)
            if (sign in came and sign not in lasted) or (sign not in came and due is not None and last > due):
                self.unsteady.add(sign)
        self._stood.update(set(lasted))
        self._passed |= set(ended) - set(lasted) - set(unclear)
        for sign in lasted:
            if sign in came:
                self._onsets.setdefault(sign, deque(maxlen=_KEPT_ONSETS)).append((came[sign], came[sign] - began))

    def is_steadfast(self, sign: str) -> bool:
        """Return True if the sign was present at the end of several answers on this site, and never ended while an
        answer was still being written."""
        return len(self._onsets.get(sign, ())) >= _ENOUGH_ONSETS and sign not in self.unsteady

    def is_proven(self, sign: str, *, alone: bool = False) -> bool:
        """Return True if the sign, whatever its kind, lasted to the end of every answer, and of more answers than
        `is_steadfast` requires. Set `alone` if no other sign confirms this sign; still more answers are then
        required."""
        enough = _PROVEN_ALONE_COUNT if alone else _PROVEN_COUNT
        return self._stood[sign] >= enough and sign not in self.unsteady | self._passed

    def ignores_trail_of(self, sign: str) -> bool:
        """Return True if text never came after the end of this sign, although requests followed several answers."""
        return self.trails >= _TRAIL_COUNT and not self.after and sign not in self.unsteady | self._passed

    def use_extra_time(self) -> bool:
        """Return True if the next answer gets extra time because the site is new. Every call reduces `untried`, so
        that other windows are not delayed."""
        first = self.untried > 0
        self.untried -= first
        return first

    def trusts_signs(self, signs: Collection[str], *, whole: bool) -> bool:
        """Return True if a text after which `signs` never end may count as a complete answer.

        Set `whole` if a firm sign accompanied the text to its end. Without such a sign the text may be half an answer,
        and the result is False. If the result is True, Harvest later waits for these signs no longer than for a text
        without signs. From the second time on Harvest does not wait for them at all, unless they have been seen to end
        on this site.
        """
        stuck = set(signs)
        if not whole:
            return False
        if stuck <= self.stayed and not stuck & self.ended:
            self.mistrusted |= stuck
        self.stayed |= stuck
        return True

    def learn_continuation(self, pause: float, most: float, *, signed: bool = False) -> None:
        """Learn that an answer considered complete continued after `pause` seconds. `most` is the longest quiet, in
        seconds, that may be required. Set `signed` if signs had shown the end of the answer."""
        self.unsteady |= self._onsets.keys()
        self._passed |= self._stood.keys()
        self.trails = 0
        known = self.after if signed else self.alone
        self.in_vain += 0.0 < known < pause
        if signed:
            self.learn_addition(pause, most)
        else:
            self.alone = min(most, max(self.alone, _PAUSE_FACTOR * pause))

    def learn_change(self, said: str, later: ChangedAnswer, pause: float, most: float, *, signed: bool = False) -> None:
        """Learn that the answer `said` changed after it was considered complete. The other arguments are as in
        `learn_continuation`."""
        until = self.alone, self.after
        self.learn_continuation(pause, most, signed=signed)
        self._changes.setdefault(later.change, _SeenChange(said, pause, until, (self.alone, self.after)))
        if later.replaced:
            self.learn_stand_in(said, pause)

    def learn_stand_in(self, said: str, pause: float) -> None:
        """Learn that the page showed a text for `pause` seconds and then replaced it by an answer."""
        if len(self._stand_ins) < _MOST_WORDINGS:
            key = letters(said)
            self._stand_ins[key] = max(pause, self._stand_ins.get(key, 0.0))

    def is_habit(self, said: str, later: ChangedAnswer, quiet: float) -> bool:
        """Return True if the page changes all its answers as it changed `said`, however long Harvest waits. An example
        is a mark such as "edited" that appears with the next turn.

        The result is True if an earlier answer changed by the same words, and the answer `said` had been unchanged for
        `quiet` seconds, longer than the earlier change took. An addition longer than a mark must have followed two
        different answers, because it may be the rest of an answer. The times learnt from the earlier change are then
        dropped, because waiting does not help.
        """
        if later.change in self._habits:
            return True
        seen, came = self._changes.get(later.change), later.change.came
        if seen is None or not came or quiet < seen.pause:
            return False
        if len(came) > _LONGEST_MARK and (later.replaced or letters(seen.said) == letters(said)):
            return False
        self._habits.add(later.change)
        if (self.alone, self.after) == seen.since:
            self.alone, self.after = seen.until
        return True

    def stand_in_seconds(self, said: str) -> float | None:
        """Return the seconds during which a text with these words is not accepted as an answer, because the page once
        replaced such a text by the real answer. Returns None if that never happened."""
        pause = self._stand_ins.get(letters(said))
        return None if pause is None else _ONSET_FACTOR * pause + _ONSET_SLACK

    def learn_pause(self, pause: float, usual: float, most: float) -> None:
        """Learn that an answer without signs paused for `pause` seconds. `usual` is the default quiet."""
        if _PAUSE_FACTOR * pause > usual:
            self.alone = min(most, max(self.alone, _PAUSE_FACTOR * pause))

    def learn_addition(self, pause: float, most: float) -> None:
        """Learn that text was added `pause` seconds after the signs of the answer's end; 0 means no addition."""
        self.untried = 0 if pause else self.untried
        self.after = min(most, max(self.after, _PAUSE_FACTOR * pause))

    def next_sign_due(self, came: Collection[str], began: float) -> float | None:
        """Return the seconds after the send at which a sign would be present if more of the answer were to come.
        Returns None if too little is known about the signs. `came` holds the signs of this turn, which need no
        estimate."""
        dues = (
            self.sign_due_at(sign, began) for sign in self._onsets.keys() - self.unsteady - self.mistrusted - set(came)
        )
        return min((due for due in dues if due is not None), default=None)

    def sign_due_at(self, sign: str, began: float) -> float | None:
        """Return the seconds after the send by which the sign appears at the latest, or None if that is unknown.
        `began` is the time of the first word. A page shows a sign either some time after the send or some time
        after the first word. The estimate uses the delay that varied clearly less."""
        onsets = self._onsets.get(sign, ())
        if len(onsets) < _ENOUGH_ONSETS:
            return None
        sent, word = [after for after, _ in onsets], [max(0.0, after) for _, after in onsets]
        by_sending, by_word = _ONSET_FACTOR * max(sent) + _ONSET_SLACK, began + _ONSET_FACTOR * max(word) + _ONSET_SLACK
        steadier = (max(word) - min(word)) - (max(sent) - min(sent))
        if abs(steadier) <= _ONSET_NOISE:
            return max(by_sending, by_word)
        return by_sending if steadier > 0 else by_word
