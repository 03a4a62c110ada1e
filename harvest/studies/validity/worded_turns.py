"""The user turns of a run that a model worded: the intended words, the faults, and the answer.

The intended words are recorded with the turn or, in older recordings, in the evidence of the wording, which has the
model's instructions. If they are unknown, as for a free model, only faults that need no such words are found.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harvest.studies.validity.odd_users import left_by_choice, refused_in
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run
from simulators.llm.faults import SaidTurn, fault_of, length, words_added, words_kept
from simulators.llm.likeness import count_words, flat
from simulators.llm.prompting import FREE, intended_words, names_sign
from simulators.llm.voices import orders_a_model
from topics.languages import known_languages, language_code
from topics.topic import Topic

# The model's options, by system and by user whose turns a model words.
Models = Mapping[str, Mapping[str, Mapping[str, Any]]]

_WORDED = "llm"
# The reason for a refused sample in recordings with samples only.
NOT_RECORDED = "reason not recorded"


@dataclass(frozen=True, slots=True)
class WordedTurn:
    """A user turn worded by a model.

    `number` is that of the turn in its conversation; `act` and `label` are as recorded. `fault`, `added` and `length`
    are as in `simulators.llm.faults`; a fault is "" for none. `kept` is the share of the intended words, NaN if
    unknown, and `words` the number of words in the turn. `refused` counts refused samples by reason, None if unknown.
    `orders` is true if the answer has words for a model in the user's place, and `as_meant` if the words are exactly
    the policy's. `heard` are labels of the answers before. `left` is whether a model that decides itself left after
    the answer; None if it does not decide, or could not continue.
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
        """The number and act of the turn and, if the model decides, the preceding label: a stratum of a topic."""
        return f"{self.number} {self.act}{' after ' + self.heard[-1:] if self.act == FREE and self.heard else ''}"


def models_of(run: Run) -> Models:
    """Return the users of a run's protocol, and of the arms of its systems, that a model words."""
    protocol = run.header.protocol
    users = protocol.get("users") if isinstance(protocol, dict) else None
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name in {*run.header.systems, *(one.key.system for one in run.conversations)}:
        own = dict(users) if isinstance(users, dict) else {}
        match run.header.systems.get(name):
            case {"changes": {"users": dict(others)}}:
                own |= others
        worded = {str(user): options for user, given in own.items() if (options := _worded_options(given)) is not None}
        if worded:
            found[name] = worded
    return found


def _worded_options(given: object) -> Mapping[str, Any] | None:
    """Return the options of the model that words a user, however deeply it is wrapped."""
    if isinstance(given, Mapping):
        if given.get("simulator") == _WORDED:
            return given
        return next((one for value in given.values() if (one := _worded_options(value)) is not None), None)
    if isinstance(given, (list, tuple)):
        return next((one for value in given if (one := _worded_options(value)) is not None), None)
    return None


def worded_turns(
    conversations: Sequence[Conversation], models: Models, topics: Mapping[str, Topic], folders: Mapping[str, Path]
) -> tuple[WordedTurn, ...]:
    """Return the turns of the conversations, in order. `topics` are by id; `folders` has the run with each evidence."""
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
            meant = intended_words(samples[0][0]) if samples else ""
            if turn.choice is not None and turn.act != FREE:
                meant = turn.choice.meant or turn.said
            # A model that could have continued, and did not, left; other ends say nothing about leaving.
            left: bool | None = None
            if turn.act == FREE and turn.label is not None and (following is not None or left_by_choice(one)):
                left = following is None
            name = options.get("language")
            code = language_code(str(name)) if name else ""
            said = SaidTurn(
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
                words_kept(said),
                _count_refused(turn, samples),
                names_sign(reply) or orders_a_model(reply),
                words_added(said),
                length(said),
                count_words(turn.said),
                bool(meant) and flat(turn.said) == flat(meant),
                heard,
                left,
                json.dumps(options, sort_keys=True, default=str),
            )
            earlier.append((turn.said, meant))
        answer, heard = reply, heard + (turn.label or "-")


def _samples(turn: Turn, folder: Path | None) -> list[tuple[str, str]]:
    """Return (instructions, output) of each sample in the evidence, or [] without evidence."""
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
        return refused_in(turn.worded)
    if not samples:
        return None
    refused = len(samples) - 1
    return {NOT_RECORDED: refused} if refused else {}
