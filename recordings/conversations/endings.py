"""How conversations ended: which ends count against a system, and how many user turns are missing after them.

A conversation that ended badly is charged the turns that it would still have had, each once: those that were certain to
follow by the protocol it was played by (`recordings.formats.lengths`). Where no protocol is known, as for most imports,
that is the next turn alone; a turn that was asked and never answered is that turn.

A user who leaves charges nothing, whatever the reason is called: how soon a user leaves is a trait of the user, and the
name of a reason a habit of whoever wrote the user.
"""

from collections import Counter
from collections.abc import Iterable

from recordings.conversations.conversation import Conversation, Outcome

# Why a user stops that itself failed: reasons of `simulators.reasons`, which stand above this module.
_FAULTS_OF_USERS = ("no-words", "endpoint-failed", "user-fault")

_BAD = ("breakdown", "no-match", "system-ended")
# Of outcomes of valid attempts.
KINDS = ("completed", *_BAD, "turn-limit", "user-stopped")


# Reasons that importers give where a file does not say how a conversation ended, and its shape alone is known.
_UNSAID = ("imported", "import")
_BY_SHAPE = ("completed", "user-stopped")

# Why an import counts a conversation as invalid: the file holds no answer to its last user turn.
NO_REPLY = "no-reply"


def end_name(outcome: Outcome) -> str:
    """What an end is called as a branch of a tree: its kind, and of a user who left the reason, since users leave for
    opposite ones: `breakdown`, `user-stopped (satisfied)`, `user-stopped (frustrated)`.

    Reasons of other kinds say which rule or state of a protocol led there, so they are not ends of their own.
    """
    if outcome.kind == "user-stopped" and outcome.reason and says_how(outcome):
        return f"{outcome.kind} ({outcome.reason})"
    return outcome.kind


def says_how(outcome: Outcome) -> bool:
    """Whether the recording knows how the conversation ended: many imports do not."""
    return not (outcome.kind in _BY_SHAPE and outcome.reason in _UNSAID)


def shape_of_ends(conversations: Iterable[Conversation]) -> str:
    """A sentence on the ends that an import read from the shape of conversations; "" if the files say how all ended, or
    all others end with an answer."""
    counted = Counter(filter(None, map(_shape, conversations)))
    told = [f"{count} {_SHAPES[shape][count != 1]}" for shape, count in counted.most_common()]
    return f"how they ended is read from their shape: {'; '.join(told)}" if counted.keys() - {"completed"} else ""


_SHAPES = {  # of one, of several
    "completed": ("ends with an answer (completed)", "end with an answer (completed)"),
    "user-stopped": (
        "ends with the user and counts as ended by the user (user-stopped)",
        "end with the user and count as ended by the user (user-stopped)",
    ),
    "unanswered": ("ends with the user and counts as completed", "end with the user and count as completed"),
    "invalid": (
        "has no answer to its last user turn (invalid: in no figure)",
        "have no answer to their last user turn (invalid: in no figure)",
    ),
    "interrupted": (
        "has no outcome (interrupted: in no figure)",
        "have no outcome (interrupted: in no figure)",
    ),
}


def _shape(conversation: Conversation) -> str:
    outcome = conversation.outcome
    if outcome is None:
        return "interrupted"
    if outcome.kind == "invalid" and outcome.reason == NO_REPLY:
        return "invalid"
    if says_how(outcome):
        return ""
    answered = not conversation.turns or conversation.turns[-1].reply is not None
    return outcome.kind if answered or outcome.kind == "user-stopped" else "unanswered"


def ended_badly(outcome: Outcome | None) -> bool:
    """Whether the end counts against the system: a breakdown, or an end by the system.

    The protocol's own end, its turn limit and a user who left do not; nor does an end of which nothing is known, as in
    many imports.
    """
    return outcome is not None and outcome.kind in _BAD


def is_cut_short(outcome: Outcome | None) -> bool:
    """Whether the user failed after at least one answer: what was answered counts, and what would have followed is not
    known."""
    return outcome is not None and outcome.kind == "user-stopped" and outcome.reason in _FAULTS_OF_USERS


# What the ends of conversations that a failure of the user cut short are called, as of `end_name`.
CUT_ENDS = frozenset(f"user-stopped ({reason})" for reason in _FAULTS_OF_USERS)


def missing_turns(conversation: Conversation) -> int:
    """User turns, at least 0, that the conversation would still have had after the last one that was asked."""
    outcome = conversation.outcome
    if outcome is None or not ended_badly(outcome):
        return 0
    if outcome.missing is not None:
        return outcome.missing
    return 0 if conversation.turns and conversation.turns[-1].reply is None else 1
