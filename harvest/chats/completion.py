"""When an answer is finished: a judgement over samples, with no browser in it.

No sign is good enough alone. A stop button goes before the page has painted its last words; a request may only have
taken the turn, while the answer comes over a socket; text is quiet whenever a model thinks. So a reply is finished when

    1. nothing says that it is still being written, and
    2. its text has been quiet for as long as this very reply asks for: a short while if a sign was there right up to
       the end of the text (it would still be there if more were to come), else longer than any pause seen so far;
       and while the page keeps putting the same text there anew, as if no sign went with it.

A stop button, `aria-busy` or the site's own sign (`TRUSTED`) is waited for as long as the turn may take. All others
are known to stay for ever on some pages (an endless animation, a box that stays disabled, a request that is never
answered): they are waited for until the text has been quiet for `stuck` seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["FIRM", "LOOSE", "TRUSTED", "Completion", "Experience", "Patience", "Sample", "Verdict"]

TRUSTED = frozenset({"stop", "busy", "site"})
FIRM = TRUSTED | {"network"}
"""Signs that go with the text itself: when they end, little more comes."""
LOOSE = frozenset({"progress", "composer", "send", "animation", "hint"})


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of quiet that are asked for.

    covered: after signs that lasted to the end of the text. loose: the same, where all of them were loose ones.
    alone: where no sign went with the text. slack: how far text and the end of a sign may be apart and still
    belong together. stuck: after this, a sign that stays is no longer believed. silent: how long a page that
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
    now: signs that are there. ended: signs that were there and are gone, with the time they were last there.
    rewritten: how long ago the same text was put there anew; None: it never was.
    """

    at: float
    quiet: float
    began: float | None
    pauses: tuple[tuple[float, float], ...] = ()
    now: frozenset[str] = frozenset()
    ended: Mapping[str, float] = field(default_factory=dict)
    rewritten: float | None = None

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
class Experience:
    """What the turns so far taught about a site's signs.

    ended: they came and went with a whole answer. stayed: they did not go, once; mistrusted: nor the second time.
    """

    ended: set[str] = field(default_factory=set)
    stayed: set[str] = field(default_factory=set)
    mistrusted: set[str] = field(default_factory=set)

    def finished(self, sample: Sample) -> None:
        """An answer was whole, and these signs had gone."""
        self.ended |= sample.ended.keys()

    def believes(self, stuck: Sample) -> bool:
        """Whether a text behind which signs stay for ever may be taken for a whole answer.

        Not where they have been seen to end: then this answer broke off. And not the first time they are met: half an
        answer taken for a whole one is worse than a turn that is asked again in a new conversation.
        """
        signs = set(stuck.now)
        if signs & self.ended:
            return False
        known = signs <= self.stayed
        self.stayed |= signs
        if known:
            self.mistrusted |= signs
        return known


@dataclass(slots=True)
class Completion:
    """For one turn. mistrusted: signs that stayed for ever in an earlier turn of this page."""

    patience: Patience = field(default_factory=Patience)
    mistrusted: frozenset[str] = frozenset()

    def judge(self, sample: Sample) -> Verdict | None:
        """Whether the text, as it is now, is the whole of it. None: wait."""
        if sample.began is None:
            return None
        now = sample.now - self.mistrusted
        if now:
            if not now & TRUSTED and sample.quiet >= self.patience.stuck:
                return Verdict("stuck", self.patience.stuck)
            return None
        how, needed = self._needed(sample)
        painting = sample.rewritten is not None and sample.rewritten < self.patience.covered
        if sample.quiet < (max(needed, self.patience.alone) if painting else needed):
            return None
        return Verdict(how, needed)

    def silent(self, sample: Sample, failed: bool = False) -> bool:
        """Whether a turn that has no word of an answer yet will get none: no sign of life for `silent` seconds.

        failed: whether something says that it failed.
        """
        patience = min(self.patience.failed, self.patience.silent) if failed else self.patience.silent
        now = sample.now - self.mistrusted
        alive = max((sample.last_change, *sample.ended.values()), default=0.0)
        return not now & FIRM and sample.at - alive >= patience

    def _needed(self, sample: Sample) -> tuple[str, float]:
        """(how, seconds of quiet) for a sample in which no sign is left."""
        patience = self.patience
        lasted = {
            sign: at
            for sign, at in sample.ended.items()
            if sign not in self.mistrusted and self._went_with_the_text(sample, sign, at)
        }
        if not lasted:
            # The wait for the first word says how long the system thinks, not how long it pauses between words.
            pauses = (length for length, since in sample.pauses if sample.began is not None and since >= sample.began)
            return "quiet", min(patience.most, max(patience.alone, 1.5 * max(pauses, default=0.0)))
        base = patience.covered if FIRM & lasted.keys() else patience.loose
        after = max(_gaps_after(sample, max(lasted.values())), default=0.0)
        return "signs", min(patience.most, max(base, 2 * after))

    def _went_with_the_text(self, sample: Sample, sign: str, end: float) -> bool:
        """Whether a sign that ended at `end` was there to the end of the text, but for what followed without a break:
        some pages go on painting what they have long received. Typing dots make way for the first word, so a loose
        sign that ended then says nothing about the last one."""
        if sign in LOOSE and sample.began is not None and end <= sample.began + self.patience.slack:
            return False
        return all(gap <= self.patience.slack for gap in _gaps_after(sample, end))


def _gaps_after(sample: Sample, end: float) -> Iterator[float]:
    """The gaps between changes of the text, as far as they lie after `end`; the one that still lasts is none."""
    for length, since in sample.pauses:
        if since + length > end and since + length <= sample.last_change + 0.001:
            yield since + length - max(since, end)
