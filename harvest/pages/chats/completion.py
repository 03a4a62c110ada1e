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
answered): they are waited for until the text has been quiet for `stuck` seconds. A page far away may still send one
request after the other then: as long as some of them end, it is at work, and gets three times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harvest.pages.browser.busy_signs import FIRM, LOOSE, TRUSTED
from harvest.pages.chats.experience import Experience

__all__ = ["Completion", "Patience", "Sample", "Verdict"]

_LATEST = 2.0  # seconds by which a page may be late with its own words
_CHAIN = 3  # times as long as one sign that stays does a chain of requests get


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of quiet that are asked for.

    covered: after signs that lasted to the end of the text. loose: the same, where all of them were loose ones.
    alone: where no sign went with the text. slack: how far text and the end of a sign may be apart and still
    belong together. stuck: after this without text or the end of a firm sign, a sign that stays is no longer
    believed. silent: how long a page that
    shows no sign may leave a turn without a word. failed: the same, where something says that the turn failed; some
    pages try again by themselves. most: no pause, however long, asks for more than this.
    """

    covered: float = 0.5
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
    with the time they were first there. late: for how long the page could not run at a stretch, as a timer in it shows.
    """

    at: float
    quiet: float
    began: float | None
    pauses: tuple[tuple[float, float], ...] = ()
    now: frozenset[str] = frozenset()
    ended: Mapping[str, float] = field(default_factory=dict)
    rewritten: float | None = None
    came: Mapping[str, float] = field(default_factory=dict)
    late: float = 0.0

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
    """For one turn. known: what earlier turns taught about this site."""

    patience: Patience = field(default_factory=Patience)
    known: Experience = field(default_factory=Experience)

    def judge(self, sample: Sample) -> Verdict | None:
        """Whether the text, as it is now, is the whole of it. None: wait."""
        if sample.began is None:
            return None
        now = sample.now - self.known.mistrusted
        if now:
            if not now & TRUSTED and self._stays(sample):
                return Verdict("stuck", self.patience.stuck)
            return None
        how, needed = self._needed(sample)
        painting = sample.rewritten is not None and sample.rewritten < self.patience.covered
        if sample.quiet < (max(needed, self.patience.alone) if painting else needed):
            return None
        return Verdict(how, needed)

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

    def _stays(self, sample: Sample) -> bool:
        """Whether nothing has come of the signs that are there for so long that nothing will."""
        stuck = self.patience.stuck
        alive = max(sample.last_change, *(at for sign, at in sample.ended.items() if sign in FIRM), 0.0)
        return sample.at - alive >= stuck or sample.quiet >= _CHAIN * stuck

    def _needed(self, sample: Sample) -> tuple[str, float]:
        """(how, seconds of quiet) for a sample in which no sign is left."""
        patience, lasted = self.patience, self.lasted(sample)
        if not lasted:
            return "quiet", self._alone(sample)
        base = patience.covered if FIRM & lasted.keys() else patience.loose
        after = max(_gaps_after(sample, max(lasted.values())), default=0.0)
        return "signs", min(patience.most, max(base, 2 * after))

    def _alone(self, sample: Sample) -> float:
        """Seconds of quiet where no sign went with the text."""
        patience, began = self.patience, sample.began or 0.0
        # The wait for the first word says how long the system thinks, not how long it pauses between words.
        pause = 1.5 * max((length for length, since in sample.pauses if since >= began), default=0.0)
        missing = self.known.missing(sample.came.keys(), began)
        if missing is not None and sample.at >= missing:
            # A sign that goes with every longer answer here would have come by now if this one were to go on.
            return min(patience.most, max(patience.loose, pause))
        return min(patience.most, max(patience.alone, self.known.alone, pause))

    def _went_with_the_text(self, sample: Sample, sign: str, end: float) -> bool:
        """Whether a sign that ended at `end` was there to the end of the text, but for what followed without a break:
        some pages go on painting what they have long received, later still where the machine is busy. Typing dots make
        way for the first word, so a loose sign that ended then says nothing about the last one."""
        if sign in LOOSE and sample.began is not None and end <= sample.began + self.patience.slack:
            return False
        slack = self.patience.slack + min(sample.late, _LATEST)
        return all(gap <= slack for gap in _gaps_after(sample, end))


def _gaps_after(sample: Sample, end: float) -> Iterator[float]:
    """The gaps between changes of the text, as far as they lie after `end`; the one that still lasts is none."""
    for length, since in sample.pauses:
        if since + length > end and since + length <= sample.last_change + 0.001:
            yield since + length - max(since, end)
