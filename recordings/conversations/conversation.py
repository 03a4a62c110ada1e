"""A recorded conversation: one attempt at one trial, turn by turn, as values that neither read nor write files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols.answer import Answer, Exchange
from protocols.route import Choice, Route

# Words of OpenAI's, Anthropic's, Google's, Mistral's, Cohere's, Amazon's, IBM's and Hugging Face's interfaces, and of
# servers that speak like one of them, as `_plain` writes them.
_WORDS = {
    "whole": (
        *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed", "tool_calls", "tool_use"),
    ),
    "cut": (
        *("length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens", "max_length"),
        *("model_length", "token_limit", "length_limit", "max_token", "limit", "truncated", "incomplete"),
        *("model_context_window_exceeded", "context_length_exceeded", "context_window_exceeded", "context_length"),
        *("time_limit", "insufficient_system_resource", "error_limit"),
    ),
    "filtered": (
        *("content_filter", "content_filtered", "filtered", "filter", "safety", "image_safety", "recitation"),
        *("blocklist", "prohibited_content", "spii", "sensitive", "guardrail_intervened", "guardrail", "guardrails"),
        *("moderation", "blocked", "error_toxic"),
    ),
    "refused": ("refusal", "refused"),
}
_MEANING: Mapping[str, str] = MappingProxyType({word: meaning for meaning, words in _WORDS.items() for word in words})


def ending_of(finish: str) -> str:
    """Return `whole`, `cut` by the system's own limit, `filtered` or `refused`; "" for an unknown name."""
    # Normalise the word: `FinishReason.MAX_TOKENS` and `max-tokens` are `max_tokens`.
    last = finish.rpartition(".")[2].strip()
    return _MEANING.get(re.sub(r"(?<=[a-z])(?=[A-Z])|[\s-]+", "_", last).lower(), "")


# The outcome of an attempt in which the infrastructure failed: not counted, repeated as a new attempt.
INVALID = "invalid"

# Limit of trials, attempts, places in a session and counts of turns, in every file and option.
LARGEST_NUMBER = 10**9 - 1


@dataclass(frozen=True, slots=True, order=True)
class TrialKey:
    """The `trial`-th playing of the run's protocol on `topic` with `system`. trial: 1 to LARGEST_NUMBER."""

    system: str
    topic: str
    trial: int


@dataclass(frozen=True, slots=True)
class SystemTurn:
    """The system's reply to one user turn.

    asked_at: UTC time of sending, ISO 8601 with microseconds ("" if an import does not know). first_seconds / seconds:
    from sending to the first / last piece; None if unknown. finish: why the system stopped writing, in its own word
    (`stop`, `length`, …); "" if unknown. tokens: counts the system reported (`prompt`, `completion`, …). pieces: for
    streams, (seconds since sending, characters received so far). evidence: content addresses in the run's `evidence/`
    folder, by kind. ended: the system closed the conversation with this turn. sends: how often the turn was sent; more
    than 1 only if the system never received it, or keeps no state. sent_as: the user's words as sent, if a page changed
    them; else "". model: the system's name for the model that answered, with its fingerprint if it has one; "" if
    unknown. notes: sentences on how the reply came, for readers of the figures; the same cause always has the same
    sentence.
    """

    answer: Answer
    asked_at: str = ""
    first_seconds: float | None = None
    seconds: float | None = None
    finish: str = ""
    tokens: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    pieces: tuple[tuple[float, int], ...] = ()
    evidence: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ended: bool = False
    sends: int = 1
    sent_as: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """`whole`, `cut` by the system's own limit, `filtered` or `refused`, from `finish`; "" if unknown."""
        return "refused" if self.answer.refused else ending_of(self.finish)


@dataclass(frozen=True, slots=True)
class Turn:
    """One user turn (number from 1, said in protocol state `state`), its reply, and the route taken after it.

    reply: None if the turn was asked but no complete answer came. route: None if no decision was recorded. user, act:
    name and act of the simulated user of the protocol that spoke; both "" if the protocol did. A user that plays
    without a protocol has its act as `state`. worded: as in `protocols.route.Say`. choice: the options of that user;
    None if no simulated user spoke, or the recording does not have them. session: the name of the system's session that
    begins with this turn, because the user came back; "" if it continues.
    """

    number: int
    state: str
    said: str
    reply: SystemTurn | None = None
    route: Route | None = None
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: Choice | None = None
    session: str = ""

    @property
    def label(self) -> str | None:
        """`o`, `x`, or None if no decision was recorded."""
        return self.route.label if self.route else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended.

    kind, earlier ones taking precedence: `invalid` (infrastructure), `system-ended`, `completed` or `breakdown` or
    `no-match` (the protocol's end), `user-stopped`, `turn-limit`. reason: a short slug for counting (`timeout`,
    `http-503`, `script-ended`). detail: a sentence for a person. missing: number of user turns that would have
    followed, see `recordings.conversations.endings`; None if unknown, but the protocol may determine it. choice: the
    options of a simulated user that left; None as for a turn.
    """

    kind: str
    reason: str = ""
    detail: str = ""
    missing: int | None = None
    choice: Choice | None = None

    @property
    def valid(self) -> bool:
        """True unless the attempt ended by a fault of the infrastructure."""
        return self.kind != INVALID

    @property
    def why(self) -> str:
        """The reason, in words even if none is recorded, as in some imports."""
        return self.reason or "no reason given"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One attempt (from 1) at one trial.

    trial_id: content-derived identity of the trial; the same in every attempt and on every machine. session: name of
    the system's session. place: 1 for a fresh session, else the position among the conversations of that session.
    outcome: None if the recording breaks off (interrupted). member: the member of the population that was drawn for the
    trial; "" for none.
    """

    key: TrialKey
    trial_id: str
    attempt: int
    turns: tuple[Turn, ...]
    outcome: Outcome | None
    session: str = ""
    place: int = 1
    user: str = "scripted"
    worker: str = ""
    started_at: str = ""
    ended_at: str = ""
    member: str = ""

    @property
    def valid(self) -> bool:
        """True if it finished, and not by a fault of the infrastructure."""
        return self.outcome is not None and self.outcome.valid

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The words of both sides in each turn, as the user saw them."""
        return tuple(Exchange(turn.said, turn.reply.answer) for turn in self.turns if turn.reply is not None)

    @property
    def models(self) -> tuple[str, ...]:
        """The system's names for the models that answered, each once."""
        return tuple(
            dict.fromkeys(turn.reply.model for turn in self.turns if turn.reply is not None and turn.reply.model)
        )

    def label(self, turn_number: int) -> str:
        """Return `o` or `x` for user turn `turn_number` (from 1); `-` if there was no such turn."""
        for turn in self.turns:
            if turn.number == turn_number and turn.label:
                return turn.label
        return "-"
