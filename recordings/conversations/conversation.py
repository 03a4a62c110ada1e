"""Values of a recorded conversation, which is one attempt at one trial. This module neither reads nor writes files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from protocols.answer import Answer, Exchange, Offer
from protocols.route import Choice, Route
from topics.counting import pluralize
from topics.html_table import html_table
from topics.sent_files import SentFile
from topics.shown_names import shorten

# Words of OpenAI's, Anthropic's, Google's, Mistral's, Cohere's, Amazon's, IBM's and Hugging Face's interfaces, and of
# servers that speak like one of them, as `_plain` writes them.
_FINISH_REASONS = {
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
_ENDING_BY_REASON: Mapping[str, str] = MappingProxyType(
    {word: meaning for meaning, words in _FINISH_REASONS.items() for word in words}
)


def ending_from_finish(finish: str) -> str:
    """Return how a reply ended according to its finish reason: `whole`, `cut` by the system's own limit, `filtered`,
    `refused`, or "" for an unknown finish reason."""
    # Normalise the word: `FinishReason.MAX_TOKENS` and `max-tokens` are `max_tokens`.
    last = finish.rpartition(".")[2].strip()
    return _ENDING_BY_REASON.get(re.sub(r"(?<=[a-z])(?=[A-Z])|[\s-]+", "_", last).lower(), "")


# The outcome of an attempt in which the infrastructure failed: not counted, repeated as a new attempt.
INVALID = "invalid"

# Characters of a text in the short form of a turn, so that a notebook shows it in a line.
_LONGEST = 40

# Limit of trials, attempts, places in a session and counts of turns, in every file and option.
LARGEST_NUMBER = 10**9 - 1


@dataclass(frozen=True, slots=True, order=True)
class TrialKey:
    """The name of a trial: number `trial` (1 to LARGEST_NUMBER) of the trials on `topic` with `system`."""

    system: str
    topic: str
    trial: int


@dataclass(frozen=True, slots=True)
class SystemTurn:
    """The system's reply to one user turn.

    `asked_at` is the time of sending in UTC, as ISO 8601 with microseconds; it is "" in imports that do not give the
    time. `first_seconds` and `seconds` are the times from sending to the first and to the last piece; None if unknown.
    `finish` is the system's own finish reason (`stop`, `length`, …); "" if unknown. `tokens` has the counts that the
    system reported (`prompt`, `completion`, …). `pieces` lists, for streams, the seconds since sending and the number
    of characters received so far. `evidence` has addresses in the run's `evidence/` folder, by kind. `ended` is True if
    the system closed the conversation with this turn. `sends` counts how often the turn was sent; it is more than 1
    only if the system never received an earlier request, or if the system keeps no state. `sent_as` is the text that
    was sent if a page changed the user's text, else "". `model` is the system's name for the model that answered, with
    the model's fingerprint if there is one; "" if unknown. `notes` are sentences on how the reply was obtained, for
    readers of the figures. The same cause always has the same sentence. `greeting` is the system's greeting before the
    user turn, if it spoke first; it belongs to no answer. `greeting_offers` has the offers in the greeting.
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
    greeting: str = ""
    greeting_offers: tuple[Offer, ...] = ()

    @property
    def heard_first(self) -> Answer | None:
        """The greeting before the user turn as an answer, with the offers in it; None if it did not speak."""
        if not self.greeting and not self.greeting_offers:
            return None
        return Answer(self.greeting, offers=self.greeting_offers)

    def after_greeting(self, heard: Answer | None) -> Self:
        """Return the reply with the system's greeting before the user turn, which is None if there was no greeting."""
        return self if heard is None else replace(self, greeting=heard.text, greeting_offers=heard.offers)

    @property
    def ending(self) -> str:
        """How the reply ended: `whole`, `cut` by the system's own limit, `filtered` or `refused`; "" if unknown."""
        return "refused" if self.answer.refused else ending_from_finish(self.finish)


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """One user turn (numbered from 1, said in the protocol state `state`), its reply, and the route taken after it.

    `reply` is None if no complete answer came. `route` is None if no decision was recorded. `user` names the protocol's
    simulated user that spoke, and `act` that user's act; both are "" if the text is the protocol's own. If a user plays
    without a protocol, `state` is the user's act. `worded` is as in `protocols.route.Say`. `choice` has the options of
    the simulated user; it is None if no simulated user spoke or if the options were not recorded. `session` names the
    system's session that begins with this turn because the user came back; it is "" if the session continues. `pressed`
    is the offer that the user pressed, with `said` as its title; it is None if the user said words. `attached` are the
    files that went with the words; if evidence is kept, the reply's evidence has them.
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
    pressed: Offer | None = None
    attached: tuple[SentFile, ...] = ()

    @property
    def label(self) -> str | None:
        """The label of the answer, `o` or `x`; None if no decision was recorded."""
        return self.route.label if self.route else None

    def __repr__(self) -> str:
        answer = "no answer" if self.reply is None else repr(shorten(self.reply.answer.text, _LONGEST))
        label = f", {self.label}" if self.label else ""
        return f"<Turn {self.number}: {shorten(self.said, _LONGEST)!r}: {answer}{label}>"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended.

    `kind` is the first of these that applies: `invalid` (the infrastructure failed), `system-ended`, the protocol's own
    end (`completed`, `breakdown` or `no-match`), `user-stopped`, `turn-limit`. `reason` is a short slug for counting
    (`timeout`, `http-503`, `script-ended`). `detail` is a sentence for a person. `missing` is the number of user turns
    that would have followed (see `recordings.conversations.endings`); it is None if unknown, and then the protocol may
    determine it. `choice` has the options of a simulated user that left; otherwise it is None.
    """

    kind: str
    reason: str = ""
    detail: str = ""
    missing: int | None = None
    choice: Choice | None = None

    @property
    def valid(self) -> bool:
        """False if the attempt ended because the infrastructure failed."""
        return self.kind != INVALID

    @property
    def why(self) -> str:
        """The reason, or a phrase for a missing reason, as in some imports."""
        return self.reason or "no reason given"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One attempt (numbered from 1) at one trial.

    `trial_id` is the identity of the trial, a hash of its content that is the same in every attempt and on every
    machine. `session` names the system's session. `place` is 1 in a fresh session, else the position among the
    conversations of the session. `outcome` is None if the recording breaks off (an interrupted attempt). `member` is
    the member of the population that was drawn for the trial; "" if there is no population.
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
        """True if the attempt finished and did not end because the infrastructure failed."""
        return self.outcome is not None and self.outcome.valid

    @property
    def greeting(self) -> Answer | None:
        """The system's greeting before the user's first turn, with the offers in it; None if that is not recorded."""
        first = self.turns[0].reply if self.turns else None
        return first.heard_first if first is not None else None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The user's text and the answer in each answered turn, as the user saw them."""
        return tuple(Exchange(turn.said, turn.reply.answer) for turn in self.turns if turn.reply is not None)

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct names that the system gave for the models that answered."""
        return tuple(
            dict.fromkeys(turn.reply.model for turn in self.turns if turn.reply is not None and turn.reply.model)
        )

    def __repr__(self) -> str:
        key, ended = self.key, self.outcome
        how = "interrupted"
        if ended is not None:  # the reason of a completed one names the protocol's rule and state
            how = ended.kind if ended.kind == "completed" else f"{ended.kind} ({ended.why})"
        turns = pluralize(len(self.turns), "turn")
        return (
            f"<Conversation of {key.system} on {key.topic}, trial {key.trial}, attempt {self.attempt}: {turns}, {how}>"
        )

    def _repr_html_(self) -> str:
        rows = (
            (
                str(turn.number),
                turn.said,
                "" if turn.reply is None else turn.reply.answer.text,
                turn.label or "",
            )
            for turn in self.turns
        )
        return html_table(repr(self)[1:-1], ("turn", "user", "answer", "label"), rows)

    def label(self, turn_number: int) -> str:
        """Return the label of user turn `turn_number` (from 1), `o` or `x`; `-` if there is no such turn or label."""
        for turn in self.turns:
            if turn.number == turn_number and turn.label:
                return turn.label
        return "-"
