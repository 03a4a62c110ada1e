"""How many users left after useless and after useful answers, which no figure charges to a system.

Turns that a user did not take are in no share, so a system that drives users away looks no worse in later turns;
these shares show whether it does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import says_how
from simulators.reasons import FRUSTRATED, WITHOUT_A_CHOICE
from topics.counting import pluralize

_LABELS = (NOT_USEFUL, USEFUL)


@dataclass(frozen=True, slots=True)
class Leaving:
    """After one label: `left` of the `answers` after which a user could have continued were the last."""

    left: int = 0
    answers: int = 0

    def __str__(self) -> str:
        share = f"{100 * self.left / self.answers:.0f}%" if self.answers else "n/a"
        return f"{share} ({self.left} of {self.answers})"


def users_leaving(conversations: Sequence[Conversation]) -> dict[str, Leaving]:
    """Return how many users left, by label `x` and `o`.

    An answer counts if the user then continued or left, but not if the protocol, a limit, the system, or a user
    without a choice (`WITHOUT_A_CHOICE`) ended the conversation.
    """
    left, answers = dict.fromkeys(_LABELS, 0), dict.fromkeys(_LABELS, 0)
    for one in conversations:
        for turn, following in zip(one.turns, (*one.turns[1:], None), strict=True):
            if turn.reply is None or turn.label not in answers:
                continue
            if following is not None:
                answers[turn.label] += 1
            elif left_by_choice(one):
                answers[turn.label] += 1
                left[turn.label] += 1
    return {label: Leaving(left[label], answers[label]) for label in _LABELS}


def share_that_left(finished: Sequence[Conversation]) -> Iterator[str]:
    """Yield a sentence about these conversations; nothing if no user left."""
    by_system: dict[str, list[Conversation]] = {}
    for one in finished:
        by_system.setdefault(one.key.system, []).append(one)
    shares = {system: users_leaving(own) for system, own in by_system.items()}
    if not any(own[label].left for own in shares.values() for label in _LABELS):
        return
    after = (
        f"after {label}: {', '.join(f'{system} {own[label]}' for system, own in shares.items())}"
        for label in _LABELS
        if any(own[label].answers for own in shares.values())
    )
    yield f"Users left {'; '.join(after)}. The turns that they did not take are in no figure, whatever their reason."
    frustrated = sum(
        one.outcome is not None and one.outcome.reason == FRUSTRATED and left_by_choice(one) for one in finished
    )
    if frustrated:
        yield (
            f"In {pluralize(frustrated, 'conversation')} the user left as {FRUSTRATED}: older scores "
            "counted the next turn of each as useless, so their later turns differ from these."
        )


def left_by_choice(one: Conversation) -> bool:
    """True if the conversation ended because a user did not continue although it could have."""
    outcome = one.outcome
    return (
        outcome is not None
        and outcome.kind == "user-stopped"
        and says_how(outcome)
        and outcome.reason not in WITHOUT_A_CHOICE
    )
