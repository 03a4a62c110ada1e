"""The decisions of a user: the next act after what it did and saw, or leaving."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordings.acts.dialogue import Dialogue
from topics.errors import InputError

# Stands before the first act of a dialogue.
START = "start"

# The decision to leave, among the acts.
STOP = "stop"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision.

    before: the user's acts so far, oldest first, after START.
    answer: the label of the last answer; None at the opening, and if there was no answer or nothing is known about it.
    act: the next act, or STOP. STOP is impossible at the opening: every dialogue has a user turn.
    """

    before: tuple[str, ...]
    answer: str | None
    act: str

    @property
    def opening(self) -> bool:
        return self.before == (START,)

    @property
    def turn(self) -> int:
        """The number of user turns before: 0 at the opening."""
        return len(self.before) - 1


def decisions_of(dialogue: Dialogue) -> Iterator[Decision]:
    """Return the decisions of a dialogue in order: one for each turn, and STOP if its end was observed."""
    before: tuple[str, ...] = (START,)
    answer: str | None = None
    for turn in dialogue.turns:
        yield Decision(before, answer, turn.act)
        before, answer = (*before, turn.act), turn.answer
    if dialogue.ended:
        yield Decision(before, answer, STOP)


def acts_in(dialogues: Iterable[Dialogue]) -> tuple[str, ...]:
    """Return the acts that occur, sorted. Raises InputError for an act with a reserved name (`start`, `stop`)."""
    acts = tuple(sorted({turn.act for dialogue in dialogues for turn in dialogue.turns}))
    refuse_reserved(acts)
    return acts


def refuse_reserved(acts: Iterable[str]) -> None:
    for act in acts:
        if act in (START, STOP):
            meaning = "the start of a dialogue" if act == START else "leaving"
            raise InputError(f"an act is called {act!r}, which stands for {meaning}", advice="give it another name")
