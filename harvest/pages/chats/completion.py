"""The rules that decide from samples of a page whether an answer is complete, without a browser.

No single sign is good enough. A stop button disappears before the page has painted the last words. A request may only
have delivered the turn, while the answer comes over a socket. Text is quiet whenever a model thinks. So a reply is
complete when

    1. no sign shows that it is still being written, and
    2. its text has been quiet for as long as this reply requires: for a short while if a sign was there right up to the
       end of the text (it would still be there if more were to come), and otherwise for longer than any pause so far.
       While the page keeps rewriting the same text, the longer wait applies even after a sign.

Harvest waits for a stop button, `aria-busy` or the site's own sign (`TRUSTED`) as long as the turn may take. Any other
sign stays for ever on some pages (an endless animation, a box that stays disabled, a request that is never answered).
Harvest waits for such a sign until the text has been quiet for `stuck` seconds. If the sign has outlasted a whole
answer before and a firm sign accompanied this answer to its end, Harvest waits only `alone` seconds. A distant page
may still send one request after another at that point: as long as some of them end, the page is working and gets three
times as long. Some pages save the conversation in several round trips after the answer. If no text followed these
requests after several answers, Harvest stops waiting for them once a trusted sign has ended.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harvest.pages.browser.busy_signs import FIRM, LOOSE, NETWORK, TRUSTED, WIRE
from harvest.pages.chats.experience import Experience

_PAINT_DELAY = 2.0  # seconds by which a page may paint its text late
_SIGN_DELAY = 0.2  # seconds for which a sign may outlast the request that brought the answer
_FIRST_FACTOR = 0.8  # times the wait of an answer without signs, for the first ones of a site: links may come later
_LATE_FACTOR = 1.15  # the same for the first ones without signs: another bubble may come
_CHAIN_FACTOR = 3  # times as long a chain of requests is awaited as one sign that stays


@dataclass(frozen=True, slots=True)
class Patience:
    """The seconds without changes (quiet) to wait for in each situation.

    - `covered`: after signs that lasted to the end of the text.
    - `brief`: instead of `covered`, after a sign that lasted to the end of every answer on this site so far.
    - `loose`: after loose signs only.
    - `alone`: if no sign accompanied the text.
    - `slack`: the longest time between the end of the text and the end of a sign that belongs to the text.
    - `stuck`: the time after which a lasting sign is ignored, if no new text and no end of a firm sign came meanwhile.
    - `silent`: how long a page without signs may leave a turn without any text.
    - `failed`: instead of `silent`, if the turn seems to have failed. Some pages then try again by themselves.
    - `most`: the upper limit, however long the pauses are.
    """

    covered: float = 0.5
    brief: float = 0.4
    loose: float = 1.0
    alone: float = 4.0
    slack: float = 0.4
    stuck: float = 30.0
    silent: float = 30.0
    failed: float = 8.0
    most: float = 20.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of a page at one moment, in seconds since the turn was sent.

    - `quiet`: time since the text last changed, or since the send if the text never changed.
    - `began`: when the first word of the answer appeared, or None before that.
    - `pauses`: (length, start) of the longest gaps between changes.
    - `now`: the signs that are present.
    - `ended`: the signs that have gone, with the time they were last present; `network` may be in both `now` and
      `ended` if one request has ended and another continues.
    - `rewritten`: how long ago the page last rewrote the same text, or None if that never happened.
    - `came`: all signs in `now` or `ended`, with the time they first appeared.
    - `stalls`: (length, start) of the periods in which the page could not run.
    - `asking`: whether the page began to poll after the turn was sent.
    - `heard`: when the first byte came back that may belong to the answer (infinite before that), if the page listens
      for one, or else 0. Any text before that is the page's own.
    """

    at: float
    quiet: float
    began: float | None
    pauses: tuple[tuple[float, float], ...] = ()
    now: frozenset[str] = frozenset()
    ended: Mapping[str, float] = field(default_factory=dict)
    rewritten: float | None = None
    came: Mapping[str, float] = field(default_factory=dict)
    stalls: tuple[tuple[float, float], ...] = ()
    asking: bool = False
    heard: float = 0.0

    @property
    def last_change(self) -> float:
        return self.at - self.quiet

    @property
    def unheard(self) -> bool:
        return self.last_change < self.heard


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision that the answer is complete, or that no answer will come. `how` is `signs` (signs came and went),
    `quiet` (no sign accompanied the text) or `stuck` (a sign stays for ever). `asked_for` is the number of seconds
    of quiet that were required."""

    how: str
    asked_for: float


@dataclass(slots=True)
class Completion:
    """The decision whether the answer to one turn is complete. `known` holds the experience from earlier turns. Set
    `first` for a new site, whose answers are given more time."""

    patience: Patience = field(default_factory=Patience)
    known: Experience = field(default_factory=Experience)
    first: bool = False

    def judge(self, sample: Sample) -> Verdict | None:
        """Return the verdict if the current text is the complete answer, or None to keep waiting."""
        if sample.began is None:
            return None
        now = self._awaited_signs(sample)
        if now:
            outlasts = now <= self.known.stayed and bool(FIRM & self.lasting_signs(sample).keys())
            stuck = self.patience.alone if outlasts else self.patience.stuck
            # Signs that have had no effect for so long will not have any.
            alive = max(sample.last_change, *(at for sign, at in sample.ended.items() if sign in FIRM), 0.0)
            stays = sample.at - alive >= stuck or sample.quiet >= _CHAIN_FACTOR * stuck
            return Verdict("stuck", stuck) if stays and not now & TRUSTED else None
        how, needed = self._required_quiet(sample)
        return None if sample.quiet < self._lengthen_quiet(sample, needed) else Verdict(how, needed)

    def remaining_quiet(self, sample: Sample) -> float | None:
        """Return the seconds of quiet after which the current text counts as complete, or None while there is no text
        or a sign is present."""
        if sample.began is None or self._awaited_signs(sample):
            return None
        return max(0.0, self._lengthen_quiet(sample, self._required_quiet(sample)[1]) - sample.quiet)

    def is_silent(self, sample: Sample, failed: bool = False) -> bool:
        """Return True if a turn without text so far will get no text. That holds after `silent` seconds without a sign
        of activity, or after `failed` seconds if something shows that the turn failed."""
        patience = min(self.patience.failed, self.patience.silent) if failed else self.patience.silent
        now = sample.now - self.known.mistrusted
        alive = max((sample.last_change, *sample.ended.values()), default=0.0)
        return not now & FIRM and sample.at - alive >= patience

    def lasting_signs(self, sample: Sample) -> dict[str, float]:
        """Return the signs that lasted to the end of the text and have gone, with the time they were last present."""
        return {sign: at for sign, at in sample.ended.items() if self._lasted_to_end(sample, sign, at)}

    def lingering_signs(self, sample: Sample) -> frozenset[str]:
        """Return the signs that are present and have not ended since the text last changed. A request that came after
        others of this answer does not linger: it may be the next of a chain, which a distant page works through."""
        return frozenset(sign for sign in sample.now if sample.ended.get(sign, -math.inf) <= sample.last_change)

    def learn(self, sample: Sample) -> None:
        """Update `known` with the signs of a complete answer. `sample` is the last sample of that answer."""
        known, patience, lasted = self.known, self.patience, self.lasting_signs(sample)
        # Time in which the page could not run, and show no sign, does not count.
        ran = sample.last_change - _stalled_seconds(sample, 0.0, sample.last_change)
        began = sample.last_change if sample.began is None else sample.began
        unclear = self.unclear_signs(sample) - lasted.keys()
        known.learn_answer(sample.ended.keys() - sample.now, sample.came, lasted, began, ran, unclear=unclear)
        known.asks_on = known.asks_on or (sample.asking and sample.quiet >= patience.stuck)
        known.speaks_alone = known.speaks_alone or (sample.unheard and sample.quiet >= patience.stuck)
        if FIRM & self.lasting_signs(sample).keys():
            # Loose signs that ended long after the text that a firm sign showed to be complete.
            late = sample.last_change + patience.alone
            ended = {sign for sign, end in sample.ended.items() if end > late}
            known.stayed |= ended & LOOSE - sample.now
        known.trails += self.has_trail(sample)
        known.learn_addition(self.pause_before_addition(sample), patience.most)
        if not lasted:
            known.learn_pause(self.longest_pause(sample), patience.alone, patience.most)

    def unclear_signs(self, sample: Sample) -> set[str]:
        """Return the loose signs that ended with the first word of an answer that has only one word."""
        return {
            sign
            for sign, end in sample.ended.items()
            if self._ended_at_first_word(sample, sign, end)
            and all(gap <= self.patience.slack for gap in _gaps_after(sample, end))
        }

    def pause_before_addition(self, sample: Sample) -> float:
        """Return the longest pause, in seconds, after which the answer still grew although a firm sign that
        accompanied its text had ended. Returns 0 if the answer did not grow."""
        began = math.inf if sample.began is None else sample.began
        ends = [at for sign, at in sample.ended.items() if sign in FIRM and at >= began]
        after = max(_gaps_after(sample, max(ends)), default=0.0) if ends else 0.0
        return after if after > self.patience.slack else 0.0

    def longest_pause(self, sample: Sample) -> float:
        """Return the longest pause between two words of the answer, in seconds, or 0 if there was no pause."""
        began = math.inf if sample.began is None else max(sample.began, sample.heard)
        return max((length for length, since in sample.pauses if since >= began), default=0.0)

    def has_trail(self, sample: Sample) -> bool:
        """Return True if requests or loose signs ended more than `alone` seconds after the trusted sign at the end of
        the text."""
        told = self._trusted_end(sample)
        after = max((end for sign, end in sample.ended.items() if sign not in TRUSTED), default=0.0)
        return told is not None and not sample.now and after - told > self.patience.alone

    def _awaited_signs(self, sample: Sample) -> frozenset[str]:
        now = sample.now - self.known.mistrusted
        told = self._trusted_end(sample)
        if now & TRUSTED or told is None or sample.at - told < self.patience.covered:
            return now
        trusted = TRUSTED & self.lasting_signs(sample).keys()
        return frozenset() if any(map(self.known.ignores_trail_of, trusted)) else now

    def _trusted_end(self, sample: Sample) -> float | None:
        """Return the seconds from the send to the end of the last trusted sign at the end of the text, or None."""
        return max((at for sign, at in self.lasting_signs(sample).items() if sign in TRUSTED), default=None)

    def _required_quiet(self, sample: Sample) -> tuple[str, float]:
        """Return (how, seconds of quiet) for a sample in which no sign is left."""
        patience, lasted = self.patience, self.lasting_signs(sample)
        if lasted:
            base = min(self._quiet_after_sign(sample, sign, end) for sign, end in lasted.items())
            after = max(_gaps_after(sample, max(lasted.values())), default=0.0)
            first = _FIRST_FACTOR * patience.alone if self.first and not self.known.after else 0.0
            how, needed = "signs", min(patience.most, max(base, 2 * after, first, self.known.after))
        else:
            how, needed = "quiet", self._quiet_without_signs(sample)
        # The text of a page that polls, or that has received nothing, may be a placeholder until the answer comes; on
        # some pages polls never end, and some answer by themselves.
        unsure = (sample.asking and not self.known.asks_on) or (sample.unheard and not self.known.speaks_alone)
        waits = unsure and not TRUSTED & lasted.keys()
        return how, max(needed, patience.stuck) if waits else needed

    def _lengthen_quiet(self, sample: Sample, needed: float) -> float:
        """Lengthen the required quiet, in seconds, if the page rewrites its text or could not run for a while, because
        the page may still have text to paint."""
        patience = self.patience
        painting = sample.rewritten is not None and sample.rewritten < patience.covered
        if needed < patience.covered:
            stalled = _stalled_seconds(sample, sample.last_change, sample.at)
            return patience.covered if painting else min(patience.covered, needed + stalled)
        return max(needed, patience.alone) if painting else needed

    def _quiet_after_sign(self, sample: Sample, sign: str, end: float) -> float:
        patience, known = self.patience, self.known
        brief = min(patience.brief, patience.covered)
        if sign in FIRM:
            return brief if known.is_proven(sign) else patience.covered
        if sign == WIRE:
            # Each of several bubbles may bring one. If the page showed that it was at work and no longer does, that
            # confirms it; otherwise more answers must have ended this way.
            shown = sample.ended.keys() & LOOSE - known.mistrusted
            return brief if known.is_proven(sign, alone=not shown) else patience.loose
        if known.is_proven(sign):
            return brief
        return (
            patience.covered
            if known.is_steadfast(sign) and not self._ended_at_first_word(sample, sign, end)
            else patience.loose
        )

    def _quiet_without_signs(self, sample: Sample) -> float:
        patience, began = self.patience, sample.began or 0.0
        # The wait for the first word shows how long the system thinks, not how long it pauses between words.
        pause = 1.5 * self.longest_pause(sample)
        missing = self.known.next_sign_due(sample.came.keys(), began)
        if missing is not None and sample.at >= missing:
            # A sign of every longer answer here would have appeared by now if this one were to go on.
            return min(patience.most, max(patience.loose, pause))
        alone = _LATE_FACTOR * patience.alone if self.first else patience.alone
        return min(patience.most, max(alone, self.known.alone, pause))

    def _ended_at_first_word(self, sample: Sample, sign: str, end: float) -> bool:
        return sign in LOOSE and sample.began is not None and end <= sample.began + self.patience.slack

    def _lasted_to_end(self, sample: Sample, sign: str, end: float) -> bool:
        """Return True if a sign that ended at `end` was present up to the end of the text. Text that followed without
        a break is allowed, because some pages go on painting text that they received long ago, for longer on a busy
        machine.

        Typing dots disappear when the first word appears. So a loose sign that ended at that moment proves nothing
        about the last word, unless the sign is known to last on this site. The end of a request proves nothing either
        if the page still showed afterwards that somebody writes, because such a page paints the text at its own pace.
        """
        began = math.inf if sample.began is None else sample.began
        if self._ended_at_first_word(sample, sign, end) and not self.known.is_steadfast(sign):
            return False
        if (
            sign == NETWORK
            and end < began
            and any(
                end + _SIGN_DELAY < other <= began + self.patience.slack
                for name, other in sample.ended.items()
                if name in LOOSE
            )
        ):
            return False
        # If links, say, are added after each answer here, the sign shows the end of the words before them.
        slack = max(self.patience.slack, self.known.after if sign in FIRM and end >= began else 0.0)
        return all(gap <= slack for gap in _gaps_after(sample, end))


def _gaps_after(sample: Sample, end: float) -> Iterator[float]:
    """Yield the lengths of gaps between text changes after `end`, without periods in which the page could not run."""
    for length, since in sample.pauses:
        until = since + length
        if until > end and until <= sample.last_change + 0.001:
            begin = max(since, end)
            yield until - begin - min(_stalled_seconds(sample, begin, until), _PAINT_DELAY)


def _stalled_seconds(sample: Sample, begin: float, until: float) -> float:
    return sum(max(0.0, min(until, at + stall) - max(begin, at)) for stall, at in sample.stalls)
