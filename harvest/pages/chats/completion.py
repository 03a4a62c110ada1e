"""When an answer is finished: a judgement over samples, with no browser in it.

No single sign is good enough. A stop button disappears before the page has painted the last words; a request may only
have delivered the turn, while the answer comes over a socket; text is quiet whenever a model thinks. So a reply is
finished when

    1. nothing says that it is still being written, and
    2. its text has been quiet for as long as this very reply asks for: a short while if a sign was there right up to
       the end of the text (it would still be there if more were to come), else longer than any pause seen so far;
       and while the page keeps putting the same text there anew, as if no sign went with it.

A stop button, `aria-busy` or the site's own sign (`TRUSTED`) is waited for as long as the turn may take. All others
are known to stay for ever on some pages (an endless animation, a box that stays disabled, a request that is never
answered): they are waited for until the text has been quiet for `stuck` seconds, or for `alone` seconds where they have
outlasted a whole answer before and a firm sign went with this one to its end. A page far away may still send one
request after the other then: as long as some of them end, it is at work, and gets three times as long. Some pages keep
their books then (they store the conversation, say, in several round trips): once this has brought no word after several
answers, it is not waited for after the end of a trusted sign.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harvest.pages.browser.busy_signs import FIRM, LOOSE, NETWORK, TRUSTED, WIRE
from harvest.pages.chats.experience import Experience

_LATEST = 2.0  # seconds by which a page may be late with its own words
_SILENCED = 0.2  # seconds for which a sign may outlast the request that brought what it makes way for
_FIRST = 0.8  # times what an answer without signs is given, for the first ones of a site: links may come later
_LATE = 1.15  # the same for the first ones without signs: another bubble may come
_CHAIN = 3  # times as long as one sign that stays does a chain of requests get


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of quiet that are asked for.

    covered: after signs that lasted to the end of the text; brief: the same, where such a sign has stood to the end of
    every answer here, and of several. loose: where all of them were loose ones.
    alone: where no sign went with the text. slack: how far text and the end of a sign may be apart and still
    belong together. stuck: after this without text or the end of a firm sign, a sign that stays is no longer
    believed. silent: how long a page that
    shows no sign may leave a turn without a word. failed: the same, where something says that the turn failed; some
    pages try again by themselves. most: no pause, however long, asks for more than this.
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
    """What is known at one moment, in seconds since the turn was sent.

    quiet: since the text last changed (since sending, if it never did). began: when the first word of the answer
    stood on the page; None: there is none yet. pauses: (length, when it began) of the longest gaps between changes.
    now: signs that are there. ended: signs that were there and are gone, with the time they were last there (`network`
    may be in both: one request has ended, another goes on).
    rewritten: how long ago the same text was put there anew; None: it never was. came: signs that were or are there,
    with the time they were first there. stalls: (length, when it began) of times in which the page could not run.
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

    @property
    def last_change(self) -> float:
        return self.at - self.quiet


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer is finished, or never comes.

    how: `signs` (they came and went), `quiet` (no sign went with the text), `stuck` (a sign stays for ever).
    asked_for: the seconds of quiet it took.
    """

    how: str
    asked_for: float


@dataclass(slots=True)
class Completion:
    """For one turn. known: what earlier turns taught about this site. first: it is new, so the answer gets longer."""

    patience: Patience = field(default_factory=Patience)
    known: Experience = field(default_factory=Experience)
    first: bool = False

    def judge(self, sample: Sample) -> Verdict | None:
        """Whether the text, as it is now, is the whole of it. None: wait."""
        if sample.began is None:
            return None
        now = self._held_by(sample)
        if now:
            outlasts = now <= self.known.stayed and bool(FIRM & self.lasted(sample).keys())
            stuck = self.patience.alone if outlasts else self.patience.stuck
            if not now & TRUSTED and self._stays(sample, stuck):
                return Verdict("stuck", stuck)
            return None
        how, needed = self._quiet_needed(sample)
        return None if sample.quiet < self._quiet_asked(sample, needed) else Verdict(how, needed)

    def left(self, sample: Sample) -> float | None:
        """Seconds of quiet after which the text, as it is now, will be whole; None while a sign is there, or no
        text."""
        if sample.began is None or self._held_by(sample):
            return None
        return max(0.0, self._quiet_asked(sample, self._quiet_needed(sample)[1]) - sample.quiet)

    def silent(self, sample: Sample, failed: bool = False) -> bool:
        """Whether a turn without any words of an answer will get none: there was no sign of life for `silent` seconds.

        failed: whether something says that it failed.
        """
        patience = min(self.patience.failed, self.patience.silent) if failed else self.patience.silent
        now = sample.now - self.known.mistrusted
        alive = max((sample.last_change, *sample.ended.values()), default=0.0)
        return not now & FIRM and sample.at - alive >= patience

    def lasted(self, sample: Sample) -> dict[str, float]:
        """The signs that are gone and were there to the end of the text, with the time they were last there."""
        return {sign: at for sign, at in sample.ended.items() if self._went_with_the_text(sample, sign, at)}

    def unclear(self, sample: Sample) -> set[str]:
        """The loose signs that made way for the first word of an answer of which no more came."""
        return {
            sign
            for sign, end in sample.ended.items()
            if self._made_way(sample, sign, end) and all(gap <= self.patience.slack for gap in _gaps_after(sample, end))
        }

    def ran_until(self, sample: Sample) -> float:
        """When the last word came, without the time before it in which the page could not run, and show no sign."""
        return sample.last_change - _stalled_seconds(sample, 0.0, sample.last_change)

    def put_in_after(self, sample: Sample) -> float:
        """The longest pause in seconds after which something still came into the answer though a firm sign that went
        with its words had ended; 0 where nothing did."""
        began = math.inf if sample.began is None else sample.began
        ends = [at for sign, at in sample.ended.items() if sign in FIRM and at >= began]
        after = max(_gaps_after(sample, max(ends)), default=0.0) if ends else 0.0
        return after if after > self.patience.slack else 0.0

    def paused(self, sample: Sample) -> float:
        """The longest pause in seconds between two words of the answer; 0 where there was none."""
        began = math.inf if sample.began is None else sample.began
        return max((length for length, since in sample.pauses if since >= began), default=0.0)

    def outlasting(self, sample: Sample) -> set[str]:
        """The loose signs that ended long after all that a firm sign told to be whole."""
        if not FIRM & self.lasted(sample).keys():
            return set()
        late = sample.last_change + self.patience.alone
        return {sign for sign, end in sample.ended.items() if sign in LOOSE and sign not in sample.now and end > late}

    def trailed(self, sample: Sample) -> bool:
        """True if requests or loose signs outlasted, by more than `alone` seconds, a trusted sign that was there to the
        end of the text."""
        told = self._trusted_end(sample)
        after = max((end for sign, end in sample.ended.items() if sign not in TRUSTED), default=0.0)
        return told is not None and not sample.now and after - told > self.patience.alone

    def _held_by(self, sample: Sample) -> frozenset[str]:
        """The signs that must end before the text counts as whole."""
        now = sample.now - self.known.mistrusted
        told = self._trusted_end(sample)
        if now & TRUSTED or told is None or sample.at - told < self.patience.covered:
            return now
        trusted = TRUSTED & self.lasted(sample).keys()
        return frozenset() if any(map(self.known.ignores_trail_of, trusted)) else now

    def _trusted_end(self, sample: Sample) -> float | None:
        """Seconds since the send at which the last trusted sign that was there to the end of the text ended; None if
        there was none."""
        return max((at for sign, at in self.lasted(sample).items() if sign in TRUSTED), default=None)

    def _stays(self, sample: Sample, stuck: float) -> bool:
        """Whether nothing has come of the signs that are there for so long that nothing will."""
        alive = max(sample.last_change, *(at for sign, at in sample.ended.items() if sign in FIRM), 0.0)
        return sample.at - alive >= stuck or sample.quiet >= _CHAIN * stuck

    def _quiet_needed(self, sample: Sample) -> tuple[str, float]:
        """(how, seconds of quiet) for a sample in which no sign is left. What stands there while the page polls may be
        put up until the answer comes; on some pages polls never end."""
        how, needed = self._needed_anyway(sample)
        waits = sample.asking and not self.known.asks_on and not TRUSTED & self.lasted(sample).keys()
        return how, max(needed, self.patience.stuck) if waits else needed

    def _needed_anyway(self, sample: Sample) -> tuple[str, float]:
        """The same, whatever the page asks for."""
        patience, lasted = self.patience, self.lasted(sample)
        if not lasted:
            return "quiet", self._alone(sample)
        base = min(self._quiet_after(sample, sign, end) for sign, end in lasted.items())
        after = max(_gaps_after(sample, max(lasted.values())), default=0.0)
        first = _FIRST * patience.alone if self.first and not self.known.after else 0.0
        return "signs", min(patience.most, max(base, 2 * after, first, self.known.after))

    def _quiet_asked(self, sample: Sample, needed: float) -> float:
        """The same on a page that puts its text there anew, or that could not run in the meantime: what it has
        received it may not have painted."""
        patience = self.patience
        painting = sample.rewritten is not None and sample.rewritten < patience.covered
        if needed < patience.covered:
            stalled = _stalled_seconds(sample, sample.last_change, sample.at)
            return patience.covered if painting else min(patience.covered, needed + stalled)
        return max(needed, patience.alone) if painting else needed

    def _quiet_after(self, sample: Sample, sign: str, end: float) -> float:
        """Seconds of quiet after a sign that went with the text to its end."""
        patience, known = self.patience, self.known
        brief = min(patience.brief, patience.covered)
        if sign in FIRM:
            return brief if known.proven(sign) else patience.covered
        if sign == WIRE:
            # Each of several bubbles may bring one. A page that has shown that it was at work, and no longer does, says
            # the same; where none does, more answers have to.
            shown = sample.ended.keys() & LOOSE - known.mistrusted
            return brief if known.proven(sign, alone=not shown) else patience.loose
        if known.proven(sign):
            return brief
        return patience.covered if known.steadfast(sign) and not self._made_way(sample, sign, end) else patience.loose

    def _alone(self, sample: Sample) -> float:
        """Seconds of quiet where no sign went with the text."""
        patience, began = self.patience, sample.began or 0.0
        # The wait for the first word says how long the system thinks, not how long it pauses between words.
        pause = 1.5 * self.paused(sample)
        missing = self.known.missing(sample.came.keys(), began)
        if missing is not None and sample.at >= missing:
            # A sign that goes with every longer answer here would have come by now if this one were to go on.
            return min(patience.most, max(patience.loose, pause))
        alone = _LATE * patience.alone if self.first else patience.alone
        return min(patience.most, max(alone, self.known.alone, pause))

    def _made_way(self, sample: Sample, sign: str, end: float) -> bool:
        return sign in LOOSE and sample.began is not None and end <= sample.began + self.patience.slack

    def _went_with_the_text(self, sample: Sample, sign: str, end: float) -> bool:
        """Whether a sign that ended at `end` was there to the end of the text, but for what followed without a break:
        some pages go on painting what they have long received, later still where the machine is busy. Typing dots make
        way for the first word, so a loose sign that ended then says nothing about the last one, unless it is known
        to stand here until the last. Nor does a request, if the page still said after its end that somebody writes:
        what came since came at the page's own pace."""
        began = math.inf if sample.began is None else sample.began
        if self._made_way(sample, sign, end) and not self.known.steadfast(sign):
            return False
        if (
            sign == NETWORK
            and end < began
            and any(
                end + _SILENCED < other <= began + self.patience.slack
                for name, other in sample.ended.items()
                if name in LOOSE
            )
        ):
            return False
        # Where links, say, are put in after each answer here, the end of the words before them is what the sign tells.
        slack = max(self.patience.slack, self.known.after if sign in FIRM and end >= began else 0.0)
        return all(gap <= slack for gap in _gaps_after(sample, end))


def _gaps_after(sample: Sample, end: float) -> Iterator[float]:
    """The gaps between changes of the text, as far as they lie after `end`, without what of them the page could not
    run; the one that still lasts is none."""
    for length, since in sample.pauses:
        until = since + length
        if until > end and until <= sample.last_change + 0.001:
            begin = max(since, end)
            yield until - begin - min(_stalled_seconds(sample, begin, until), _LATEST)


def _stalled_seconds(sample: Sample, begin: float, until: float) -> float:
    """Seconds of that time in which the page could not run."""
    return sum(max(0.0, min(until, at + stall) - max(begin, at)) for stall, at in sample.stalls)
