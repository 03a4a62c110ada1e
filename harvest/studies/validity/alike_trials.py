"""Trials whose attempts went alike, counted together, so that a million trials are looked at once for each kind."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.endings import is_lost
from recordings.conversations.outlines import Outlines


@dataclass(frozen=True, slots=True)
class AlikeTrials:
    """Trials of one topic whose attempts went alike. `attempts` are those of the first of them that ended, in order,
    and `number` counts the trials. `known_lengths` are as in `lengths`, if attempts are without their words."""

    attempts: tuple[Conversation, ...]
    number: int = 1
    known_lengths: npt.NDArray[np.int32] | None = None

    @property
    def first(self) -> Conversation | None:
        """The first attempt with an answer."""
        return next((one for one in self.attempts if one.valid or one.exchanges), None)

    @property
    def lengths(self) -> npt.NDArray[np.int32]:
        """The characters of each answer of the first attempt with an answer, (trials, answers)."""
        if self.known_lengths is not None:
            return self.known_lengths
        turns = self.first.turns if self.first is not None else ()
        answers = [len(turn.reply.answer.text) for turn in turns if turn.reply is not None]
        return np.array([answers], dtype=np.int32)


def alike_trials(conversations: Iterable[Conversation]) -> list[AlikeTrials]:
    """Return the kinds of trials with an attempt that ended, in order of their first one. Attempts of a trial must be
    in order. Trials with several attempts or a lost one are each a kind of their own, and so are all that have their
    words."""
    if isinstance(conversations, Outlines):
        return _of_outlines(conversations)
    found: dict[TrialKey, list[Conversation]] = {}
    for one in conversations:
        if one.outcome is not None:
            found.setdefault(one.key, []).append(one)
    return [AlikeTrials(tuple(own)) for own in found.values()]


def _of_outlines(whole: Outlines) -> list[AlikeTrials]:
    ended = whole.select(whole.rows_of(lambda one: one.outcome is not None))
    lost = ended.rows_of(lambda one: one.outcome is not None and is_lost(one))
    trial = ended.trial_numbers
    apart = np.bincount(trial, minlength=1) > 1
    apart[trial[lost]] = True
    rows = np.flatnonzero(~apart[trial])
    alone = ended.select(rows)
    first, counts, kind = alone.groups
    alike = np.split(np.argsort(kind, kind="stable"), np.cumsum(counts)[:-1]) if len(first) else []
    found = [
        (int(rows[at]), AlikeTrials((alone[at],), len(own), alone.reply_lengths(own)))
        for at, own in zip(first.tolist(), alike, strict=True)
    ]
    others = np.flatnonzero(apart[trial])
    ends = np.flatnonzero(np.diff(trial[others])) + 1
    for several in np.split(others, ends) if len(others) else []:
        attempts = tuple(ended[at] for at in several.tolist())
        answered = (at for at, one in zip(several.tolist(), attempts, strict=True) if one.valid or one.exchanges)
        told = next(answered, None)
        lengths = np.zeros((1, 0), dtype=np.int32) if told is None else ended.reply_lengths(np.array([told]))
        found.append((int(several[0]), AlikeTrials(attempts, 1, lengths)))
    return [one for _, one in sorted(found, key=lambda one: one[0])]
