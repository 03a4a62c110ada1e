"""The reasons of `Stop("user-stopped", reason)`, each with its meaning."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SATISFIED: Final = "satisfied"
FRUSTRATED: Final = "frustrated"
PATIENCE: Final = "patience"
GOAL_REACHED: Final = "goal-reached"
PLAN_DONE: Final = "plan-done"
LEFT: Final = "left"
BUDGET: Final = "budget"
RECORDED_END: Final = "recorded-end"
NO_BRANCH: Final = "no-branch"
ENDPOINT_FAILED: Final = "endpoint-failed"
NO_WORDS: Final = "no-words"
PERSON_LEFT: Final = "person-left"
USER_FAULT: Final = "user-fault"

# Reasons of a user who could not continue after any answer: such an end says nothing about leaving.
WITHOUT_A_CHOICE: Final = frozenset({BUDGET, PLAN_DONE, RECORDED_END, NO_BRANCH, ENDPOINT_FAILED, NO_WORDS, USER_FAULT})

# One sentence for people by reason.
MEANING: Final[Mapping[str, str]] = MappingProxyType(
    {
        SATISFIED: "The user has found enough.",
        FRUSTRATED: "The user has had too many answers that were of no use.",
        PATIENCE: "The user has had enough turns, whatever they brought.",
        GOAL_REACHED: "Every request of the user's goal was answered.",
        PLAN_DONE: "Every step of the plan that the user follows was taken.",
        LEFT: "The user left, as users in the same place did in the table that it plays; the table does not say why.",
        BUDGET: "What the user may spend (turns, words, calls) is spent.",
        RECORDED_END: "The recording that is played ends here.",
        NO_BRANCH: "The system's answer is in no branch of the recording: what a user would say next is not known.",
        ENDPOINT_FAILED: "The endpoint that words the user's turns did not answer.",
        PERSON_LEFT: "The person at the terminal ended the conversation.",
        NO_WORDS: "The endpoint that words the user's turns gave no words that can be sent.",
        USER_FAULT: "The user's own code failed, or broke a promise that every user gives.",
    }
)
