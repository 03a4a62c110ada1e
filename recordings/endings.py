"""How conversations ended: which ends count against a system, and how many user turns are missing after them.

A conversation that ended badly is charged the turns that it would still have had, each once: those that were certain to
follow by the protocol it was played by (`recordings.lengths`). Where no protocol is known, as for most imports, that is
the next turn alone; a turn that was asked and never answered is that turn.
"""

from __future__ import annotations

from recordings.conversation import Conversation, Outcome

__all__ = ["KINDS", "end_name", "ended_badly", "missing_turns", "says_how"]

GAVE_UP = "frustrated"
"""Why a user leaves a system that failed it: the reason of `simulators.reasons`, which stand above this module."""

_BAD = ("breakdown", "no-match", "system-ended")
KINDS = ("completed", *_BAD, "turn-limit", "user-stopped")
"""Of outcomes of valid attempts."""


_UNSAID = ("imported", "import")
"""Reasons that importers give where a file does not say how a conversation ended, and `completed` is only assumed."""


def end_name(outcome: Outcome) -> str:
    """What an end is called as a branch of a tree: its kind, and of a user who left the reason, since users leave for
    opposite ones: `breakdown`, `user-stopped (satisfied)`, `user-stopped (frustrated)`.

    Reasons of other kinds say which rule or state of a protocol led there, so they are not ends of their own.
    """
    if outcome.kind == "user-stopped" and outcome.reason:
        return f"{outcome.kind} ({outcome.reason})"
    return outcome.kind


def says_how(outcome: Outcome) -> bool:
    """Whether the recording knows how the conversation ended: many imports do not."""
    return not (outcome.kind == "completed" and outcome.reason in _UNSAID)


def ended_badly(outcome: Outcome | None) -> bool:
    """Whether the end counts against the system: a breakdown, an end by the system, a user who gave up on it.

    The protocol's own end, its turn limit and a user who left for other reasons do not; nor does an end of which
    nothing is known, as in many imports.
    """
    if outcome is None:
        return False
    return outcome.kind in _BAD or (outcome.kind == "user-stopped" and outcome.reason == GAVE_UP)


def missing_turns(conversation: Conversation) -> int:
    """User turns, at least 0, that the conversation would still have had after the last one that was asked."""
    outcome = conversation.outcome
    if outcome is None or not ended_badly(outcome):
        return 0
    if outcome.missing is not None:
        return outcome.missing
    return 0 if conversation.turns and conversation.turns[-1].reply is None else 1
