"""How conversations ended: which ends count against a system, and how many user turns are missing after them.

A conversation that ended badly is charged with the turns that would have followed, if its protocol makes their number
certain (`recordings.formats.imports`). If no protocol is known, as for most imports, only the next turn is charged. A
turn that was asked and never answered counts as that next turn. Nothing is charged if the user left, whatever the
recorded reason: how soon a user leaves is a trait of the user, and the user's author chose the name of the reason.
"""

from collections import Counter
from collections.abc import Iterable

from recordings.conversations.conversation import Conversation, Outcome

# Reasons of users that failed, from `simulators.reasons`, which this module cannot import.
_FAULTS_OF_USERS = ("no-words", "endpoint-failed", "user-fault")

# Why a replay ends after an answer: what the user says next has no answer in the recording.
DIVERGED = "diverged"
_CUTS = (*_FAULTS_OF_USERS, DIVERGED)

_BAD_KINDS = ("breakdown", "no-match", "system-ended")
# Kinds of outcomes of valid attempts.
KINDS = ("completed", *_BAD_KINDS, "turn-limit", "user-stopped")


# Reasons given by importers if only the shape of a conversation suggests how it ended.
_INFERRED_REASONS = ("imported", "import")
_INFERRED_KINDS = ("completed", "user-stopped")

# Why an import counts a conversation as invalid: its last user turn has no answer in the file.
NO_REPLY = "no-reply"


def end_name(outcome: Outcome) -> str:
    """Return the name under which a tree counts an end: the kind of end, and for a user who left also the reason,
    because users leave for opposite reasons (`user-stopped (satisfied)`, `user-stopped (frustrated)`). For other kinds
    the reason is left out, because it only names the rule or state of a protocol that led to the end."""
    if outcome.kind == "user-stopped" and outcome.reason and is_end_stated(outcome):
        return f"{outcome.kind} ({outcome.reason})"
    return outcome.kind


def is_end_stated(outcome: Outcome) -> bool:
    """Return True if the recording itself states how the conversation ended, which many imports do not."""
    return not (outcome.kind in _INFERRED_KINDS and outcome.reason in _INFERRED_REASONS)


def describe_inferred_ends(conversations: Iterable[Conversation]) -> str:
    """Return a sentence on the ends that an import inferred from the shape of conversations. Returns "" if the files
    state every end, or if every conversation with an inferred end ends with an answer."""
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
    if is_end_stated(outcome):
        return ""
    answered = not conversation.turns or conversation.turns[-1].reply is not None
    return outcome.kind if answered or outcome.kind == "user-stopped" else "unanswered"


def is_bad_ending(outcome: Outcome | None) -> bool:
    """Return True if the end counts against the system: a breakdown, no matching route, or an end by the system. An end
    by the protocol, its turn limit or the user does not count, nor does an unknown end."""
    return outcome is not None and outcome.kind in _BAD_KINDS


def is_cut_short(outcome: Outcome | None) -> bool:
    """Return True if a failure of the user, or a replayed recording that continues differently, ended the conversation
    after at least one answer. The answers count, but the continuation is unknown."""
    return outcome is not None and outcome.kind == "user-stopped" and outcome.reason in _CUTS


def cut_words(reasons: Iterable[str]) -> str:
    """Return how conversations were cut short, given the reasons: `cut short by a failure of the user`."""
    found = set(reasons)
    by = ["by a failure of the user"] if found - {DIVERGED} else []
    return f"cut short {' or '.join(by + ['where the recording has no answer'] * (DIVERGED in found))}"


def loss_remedy(reasons: Iterable[str]) -> str:
    """Return what to do about lost conversations, given the reasons of their losses."""
    if set(reasons) == {DIVERGED}:
        return "play the protocol with the system, since the recording cannot tell more"
    return "remove the cause and make a new run"


def is_lost(one: Conversation) -> bool:
    """Return True if an attempt that ended is invalid, or was cut short before its end was known."""
    return not one.valid or is_cut_short(one.outcome)


# The `end_name` of conversations that were cut short.
CUT_ENDS = frozenset(f"user-stopped ({reason})" for reason in _CUTS)


def shown_end(name: str) -> str:
    """Return an `end_name` for people: a conversation that was cut short does not count as left by the user, whatever
    the recording calls its end."""
    return name.replace("user-stopped", "cut short", 1) if name in CUT_ENDS else name


def missing_turns(conversation: Conversation) -> int:
    """Return the number of user turns that would have followed if the conversation had not ended badly."""
    outcome = conversation.outcome
    if outcome is None or not is_bad_ending(outcome):
        return 0
    if outcome.missing is not None:
        return outcome.missing
    return 0 if conversation.turns and conversation.turns[-1].reply is None else 1
