"""A conversation as the acts of its user: what users do and when they leave, without words."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from protocols.labels import USEFUL
from recordings.conversations.conversation import Conversation, TrialKey

_UNDECIDED = frozenset({"no-branch", "endpoint-failed", "no-words", "user-fault", "recorded-end"})
_STOPPED = frozenset({"completed", "breakdown", "user-stopped"})
_PERSON = "human"  # the name of a person at the terminal in recordings (`simulators.human`)


@dataclass(frozen=True, slots=True)
class ActTurn:
    """One user turn. act: what the user did. answer: the system's next turn as a user sees it (a label `o` or `x`, or a
    system act); None if none came or it is unknown. said: the user's words, "" if unknown; ignored in comparisons."""

    act: str
    answer: str | None = None
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The acts of one user in one conversation, in order; at least one turn.

    ended: True if the user was seen to leave after the last turn; False if the dialogue was cut off there (turn limit,
    end of the system or of the log), so it is unknown how the user would have continued (a censored end). person: who
    took the user's side, "" if unknown; dialogues of one person are not independent. draws: for a simulated user, the
    names of its random streams; dialogues with the same draws are of one user that was played several times. system,
    topic: "" for none. score: of the whole dialogue, NaN for none.
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
        """The user, which is resampled, split and left out as a whole: the person if known, else the draws of a
        simulated user, else the dialogue."""
        if self.person:
            return f"person {self.person}"
        return f"draws {self.draws}" if self.draws else f"dialogue {self.id}"

    @property
    def length(self) -> int:
        """Number of user turns."""
        return len(self.turns)


@dataclass(frozen=True, slots=True)
class Dialogues:
    """The dialogues of a source. left_out: how many conversations were left out, by reason."""

    kept: tuple[Dialogue, ...]
    left_out: Sequence[tuple[str, int]] = ()


def dialogue_of(conversation: Conversation, seed: int | None = None) -> Dialogue | None:
    """Return the acts in a recorded conversation; None if it is invalid or has no user turn.

    An act is what a simulated user of the protocol did, else the state of the user turn; an answer is the label of the
    turn (None if no rule judged it). The user left if the outcome is `user-stopped`, `completed` or `breakdown`. Every
    other end is censored, and so is a stop for which a simulated user had no choice, such as `no-branch`. The score is
    the share of `o` among labelled answers. seed: of the played run; None for imports and chats, whose users are
    people. The draws of a simulated user are named by seed, user, topic and trial, never by the system.
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
        ended=outcome is not None and outcome.kind in _STOPPED and outcome.reason not in _UNDECIDED,
        system=key.system,
        topic=key.topic,
        score=labels.count(USEFUL) / len(labels) if labels else math.nan,
        draws=""
        if seed is None or conversation.user == _PERSON
        else f"{seed}/{conversation.user}/{key.topic}/{key.trial}",
    )


def dialogues_of(conversations: Iterable[Conversation], seed: int | None = None) -> Dialogues:
    """Return one dialogue for each trial: of several attempts the first valid one, else the last that was cut off.
    seed: as in `dialogue_of`."""
    best: dict[TrialKey, Dialogue] = {}
    lost: dict[TrialKey, str] = {}
    finished: set[TrialKey] = set()
    for conversation in sorted(conversations, key=lambda one: (one.key, one.attempt)):
        key = conversation.key
        if key in finished:
            continue
        found = dialogue_of(conversation, seed)
        if found is None:
            lost[key] = "no user turn" if conversation.valid else "no valid attempt: failed or interrupted"
            continue
        best[key] = found
        if conversation.valid:
            finished.add(key)
    counted = Counter(why for key, why in lost.items() if key not in best)
    return Dialogues(tuple(best.values()), tuple(sorted(counted.items())))
