"""The user turns of a run that a model worded: their intended words, their faults, and the answers.

The intended words are recorded with the turn or, in older recordings, in the model's instructions, which are stored
as evidence. If the intended words are unknown, as for a model without a policy, only faults that do not depend on
them are found.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harvest.studies.validity.odd_users import left_by_choice, parse_refused
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from recordings.conversations.outlines import kinds
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run
from simulators.llm.faults import UserTurn, fault_of, log_length_ratio, share_of_words_added, share_of_words_kept
from simulators.llm.likeness import count_words, plain_letters
from simulators.llm.prompting import FREE, contains_sign, find_intended_words
from simulators.llm.voices import gives_order_to_model
from topics.languages import known_languages, language_code
from topics.topic import Topic

# The model's options, by system and by user whose turns a model words.
Models = Mapping[str, Mapping[str, Mapping[str, Any]]]

_MODEL_SIMULATOR = "llm"
# The reason for a refused sample in recordings with samples only.
NOT_RECORDED = "reason not recorded"


@dataclass(frozen=True, slots=True)
class WordedTurn:
    """A user turn worded by a model.

    `number` is its number in the conversation; `act` and `label` are as recorded. `fault`, `added` and `length` are
    as in `simulators.llm.faults`; without a fault, `fault` is "". `kept` is the share of the intended words that
    were said, or NaN if the intended words are unknown. `words` is the number of words. `refused` counts refused
    samples by reason; None means unknown. `orders` is true if the answer has words for a model in the user's place,
    and `as_meant` if the turn has exactly the policy's words. `heard` has the labels of the earlier answers. `left`
    is true if a model that decides by itself left after the answer. `left` is None if the model does not decide, or
    could not continue.
    """

    key: TrialKey
    number: int
    act: str
    label: str | None
    fault: str
    kept: float
    refused: Mapping[str, int] | None = field(default_factory=lambda: MappingProxyType({}))
    orders: bool = False
    added: float = math.nan
    length: float = math.nan
    words: int = 0
    as_meant: bool = False
    heard: str = ""
    left: bool | None = None
    model: str = ""

    @property
    def place(self) -> str:
        """The stratum of the turn within a topic: number, act and, if the model decides, the preceding label."""
        return f"{self.number} {self.act}{' after ' + self.heard[-1:] if self.act == FREE and self.heard else ''}"


def models_of(run: Run) -> Models:
    """Return the users whose turns a model words, in the run's protocol and in the arms of its systems."""
    protocol = run.header.protocol
    users = protocol.get("users") if isinstance(protocol, dict) else None
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name in {*run.header.systems, *(one.key.system for one, _, _ in kinds(run.conversations))}:
        own = dict(users) if isinstance(users, dict) else {}
        match run.header.systems.get(name):
            case {"changes": {"users": dict(others)}}:
                own |= others
        worded = {str(user): options for user, given in own.items() if (options := _worded_options(given)) is not None}
        if worded:
            found[name] = worded
    return found


def _worded_options(given: object) -> Mapping[str, Any] | None:
    """Return the options of the model that words a user, at any depth of wrappers, or None."""
    if isinstance(given, Mapping):
        if given.get("simulator") == _MODEL_SIMULATOR:
            return given
        return next((one for value in given.values() if (one := _worded_options(value)) is not None), None)
    if isinstance(given, (list, tuple)):
        return next((one for value in given if (one := _worded_options(value)) is not None), None)
    return None


def worded_turns(
    conversations: Sequence[Conversation], models: Models, topics: Mapping[str, Topic], folders: Mapping[str, Path]
) -> tuple[WordedTurn, ...]:
    """Return the worded turns of the conversations, in order. `topics` are keyed by id. `folders` has the run
    folder of each system, in which evidence is stored."""
    return tuple(
        found
        for one in conversations
        if one.key.system in models
        for found in _of_conversation(
            one, models[one.key.system], topics.get(one.key.topic), folders.get(one.key.system)
        )
    )


def _of_conversation(
    one: Conversation, models: Mapping[str, Mapping[str, Any]], topic: Topic | None, folder: Path | None
) -> Iterator[WordedTurn]:
    need = (topic.request, topic.subject, *topic.turns, *topic.fields.values()) if topic is not None else ()
    earlier: list[tuple[str, str]] = []
    answer = heard = ""
    for turn, following in zip_longest(one.turns, one.turns[1:]):
        reply = turn.reply.answer.text if turn.reply is not None else ""
        if turn.user in models:
            options = models[turn.user]
            samples = _samples(turn, folder) if turn.choice is None else []
            meant = find_intended_words(samples[0][0]) if samples else ""
            if turn.choice is not None and turn.act != FREE:
                meant = turn.choice.meant or turn.said
            # A model that could have continued, and did not, left; other ends say nothing about leaving.
            left: bool | None = None
            if turn.act == FREE and turn.label is not None and (following is not None or left_by_choice(one)):
                left = following is None
            name = options.get("language")
            code = language_code(str(name)) if name else ""
            said = UserTurn(
                turn.said,
                meant,
                turn.act,
                tuple(earlier),
                answer,
                tuple(filter(None, need)),
                code if code in ("", *known_languages()) else None,
                tuple(options.get("again", ("repeat",))),
                turn.worded,
            )
            yield WordedTurn(
                one.key,
                turn.number,
                turn.act,
                turn.label,
                fault_of(said),
                share_of_words_kept(said),
                _count_refused(turn, samples),
                contains_sign(reply) or gives_order_to_model(reply),
                share_of_words_added(said),
                log_length_ratio(said),
                count_words(turn.said),
                bool(meant) and plain_letters(turn.said) == plain_letters(meant),
                heard,
                left,
                json.dumps(options, sort_keys=True, default=str),
            )
            earlier.append((turn.said, meant))
        answer, heard = reply, heard + (turn.label or "-")


def _samples(turn: Turn, folder: Path | None) -> list[tuple[str, str]]:
    address = turn.reply.evidence.get("wording") if turn.reply is not None else None
    if not address or folder is None:
        return []
    try:
        taken = json.loads(read_exhibit(folder, address))
        return [(str(one["messages"][0]["text"]), str(one["text"])) for one in taken]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []


def _count_refused(turn: Turn, samples: Sequence[tuple[str, str]]) -> Mapping[str, int] | None:
    if turn.choice is not None:
        return turn.choice.refused
    if turn.worded:
        return parse_refused(turn.worded)
    if not samples:
        return None
    refused = len(samples) - 1
    return {NOT_RECORDED: refused} if refused else {}
