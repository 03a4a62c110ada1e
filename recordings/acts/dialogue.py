"""Conversations reduced to dialogue acts: what each user did, and when the user left."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from protocols.labels import USEFUL
from recordings.conversations.conversation import Conversation, TrialKey

_UNDECIDED_REASONS = frozenset({"no-branch", "endpoint-failed", "no-words", "user-fault", "recorded-end"})
_STOPPING_KINDS = frozenset({"completed", "breakdown", "user-stopped"})
_PERSON_USER = "human"  # the name of a person at the terminal in recordings (`simulators.human`)


@dataclass(frozen=True, slots=True)
class ActTurn:
    """One user turn. `act` is the user's act, and `said` the user's text, or "" if unknown; comparisons ignore `said`.
    `answer` is the system's next turn as the user sees it: a label (`o` or `x`) or a system act. It is None if there
    was no answer or if the answer is unknown."""

    act: str
    answer: str | None = None
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The acts of one user in one conversation, in order, with at least one turn.

    `ended` is True if the user left after the last turn. It is False if a turn limit, the system or the end of the log
    cut off the dialogue, so that the user's continuation is unknown (a censored end). `person` is the person who
    acted as the user, "" if unknown; dialogues of one person are not independent. `draws` names the random streams of a
    simulated user, and equal draws mean that one user was played several times. `system` and `topic` are "" if there is
    none. `score` rates the whole dialogue; it is NaN if there is no score.
    """

    id: str
    turns: tuple[ActTurn, ...]
    ended: bool
    person: str = ""
    system: str = ""
    topic: str = ""
    score: float = math.nan
    draws: str = ""

    @property
    def unit(self) -> str:
        """Unit of resampling and splitting: the person, or the draws of a simulated user, or else the dialogue."""
        if self.person:
            return f"person {self.person}"
        return f"draws {self.draws}" if self.draws else f"dialogue {self.id}"

    @property
    def length(self) -> int:
        """The number of user turns."""
        return len(self.turns)


@dataclass(frozen=True, slots=True)
class Dialogues:
    """The dialogues of a source, and the number of conversations that were left out for each reason."""

    kept: tuple[Dialogue, ...]
    left_out: Sequence[tuple[str, int]] = ()


def extract_dialogue(conversation: Conversation, seed: int | None = None) -> Dialogue | None:
    """Return the acts in a recorded conversation, or None if it is invalid or has no user turn.

    The act of a turn is the act of the protocol's simulated user if there was one, else the protocol state of the turn.
    The answer is the label of the turn, or None if no rule judged the turn. The user left if the outcome is
    `user-stopped`, `completed` or `breakdown`. Every other end is censored, and so is a stop at which a simulated user
    had no choice, such as `no-branch`. The score is the share of `o` among the labelled answers. `seed` is the seed of
    a played run; it is None for imports and chats, in which the users are people. The draws of a simulated user depend
    on the seed, user, topic and trial, but never on the system.
    """
    outcome = conversation.outcome
    if not conversation.turns or (outcome is not None and not outcome.valid):
        return None
    turns = tuple(ActTurn(turn.act or turn.state, turn.label, turn.said) for turn in conversation.turns)
    labels = [turn.answer for turn in turns if turn.answer is not None]
    key = conversation.key
    return Dialogue(
        id=f"{key.system}/{key.topic}/{key.trial}",
        turns=turns,
        ended=outcome is not None and outcome.kind in _STOPPING_KINDS and outcome.reason not in _UNDECIDED_REASONS,
        system=key.system,
        topic=key.topic,
        score=labels.count(USEFUL) / len(labels) if labels else math.nan,
        draws=""
        if seed is None or conversation.user == _PERSON_USER
        else f"{seed}/{conversation.user}/{key.topic}/{key.trial}",
    )


def extract_dialogues(conversations: Iterable[Conversation], seed: int | None = None) -> Dialogues:
    """Return one dialogue for each trial, from its first valid attempt. If no attempt is valid, the last attempt that
    was cut off is used. `seed` is passed on to `extract_dialogue`."""
    best: dict[TrialKey, Dialogue] = {}
    lost: dict[TrialKey, str] = {}
    finished: set[TrialKey] = set()
    for conversation in sorted(conversations, key=lambda one: (one.key, one.attempt)):
        key = conversation.key
        if key in finished:
            continue
        found = extract_dialogue(conversation, seed)
        if found is None:
            lost[key] = "no user turn" if conversation.valid else "no valid attempt: failed or interrupted"
            continue
        best[key] = found
        if conversation.valid:
            finished.add(key)
    counted = Counter(why for key, why in lost.items() if key not in best)
    return Dialogues(tuple(best.values()), tuple(sorted(counted.items())))
