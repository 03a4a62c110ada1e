"""Nuggets of a good answer to each topic, and the nuggets that each conversation contains, in files and as layers.

    {"query": "…", "qid": "T1", "nuggets": [{"text": "It opens at nine.", "importance": "vital"}]}
        created: the nuggets of one topic, with the importance vital or okay
    {"query": "…", "qid": "T1", "answer_text": "…", "response_length": 4, "run_id": "A/1",
     "nuggets": [{"text": "It opens at nine.", "importance": "vital", "assignment": "support"}]}
        assigned: the nuggets that one conversation contains. run_id is SYSTEM/TRIAL, as `harvest data export --format
        answers` writes it. The assignment is support, partial_support or not_support

These are files of `nuggetizer`, with one JSON object in each line. Errors give the line and column. A conversation must
be assigned exactly the nuggets of its topic. If nuggetizer's model gave no usable answer, the file says `failed`.
Nuggets with a failed importance, conversations with a failed assignment, and unknown topics are left out. Text in a
nugget that looks like a secret is redacted on reading, as in stored layers, so that a file still matches the layers
made from it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json, encode_line
from recordings.judged.judgments import Judgment, Layer
from recordings.log.exports import write_export
from recordings.secrets.redaction import Redactor, count_marks
from topics.counting import pluralize
from topics.errors import InputError
from topics.json_file import read_json
from topics.json_value import JsonValue

# The criteria of judgments on the nuggets of a topic, and on those in a conversation.
WANTED, HELD = "wanted", "held"
IMPORTANCES = ("vital", "okay")
ASSIGNMENTS = ("support", "partial_support", "not_support")
# Written by nuggetizer if its model gave no importance or assignment.
FAILED = "failed"

# By trial and attempt: the assignment of each nugget, by its text.
Held = Mapping[tuple[str, int], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class WantedFile:
    """The content of a file of nuggets. `wanted` has judgments on the nuggets of topics, and `held` judgments on the
    nuggets in conversations. `topics` and `conversations` count the lines of each kind. `left_out` describes all other
    lines."""

    wanted: tuple[Judgment, ...]
    held: tuple[Judgment, ...]
    topics: int
    conversations: int
    left_out: tuple[str, ...] = ()


def read_wanted(
    path: str | PathLike[str],
    topics: Iterable[str],
    conversations: Iterable[Conversation],
    known: Mapping[str, Mapping[str, str]],
) -> WantedFile:
    """Read a file of created or of assigned nuggets, for the topics and valid conversations of the run. `known` has the
    importance of each known nugget, by topic. Raises InputError, with file:line:column."""
    cleaner = Redactor()
    of = {(f"{one.key.system}/{one.key.trial}", one.key.topic): one for one in conversations}
    names, wanted = frozenset(topics), dict(known)
    created: dict[str, JsonValue] = {}
    assigned: dict[tuple[str, str], tuple[Judgment, ...]] = {}
    elsewhere: dict[str, JsonValue] = {}
    failed: Counter[str] = Counter()
    for record in read_json(path):
        qid = record["qid"]
        topic = str(qid.index()) if isinstance(qid.value, int) else qid.text()  # some programs write a number
        if topic not in names:
            elsewhere.setdefault(topic, record)
            continue
        nuggets = _nuggets(record, cleaner)
        everything = len(record["nuggets"].elements())
        if not record.has_key("run_id"):
            if any(one.has_key("assignment") for one in record["nuggets"].elements()):
                raise record.error(
                    "these nuggets have assignments but no run_id, so their answer in this run is unknown",
                    allowed='"run_id": "SYSTEM/TRIAL", as `harvest data export --format answers` writes it',
                    advice="assign the nuggets to exported answers; nuggets of passages (docid) do not describe a run",
                )
            failed["nuggets without an importance"] += everything - len(nuggets)
            if not nuggets:
                failed["topics of which every nugget failed"] += 1
                continue
            if topic in created:
                raise record["qid"].error(
                    f"the nuggets of {topic!r} are already defined on line {created[topic].line}",
                    advice="keep one of them",
                )
            created[topic] = record
            wanted[topic] = nuggets
            continue
        name = record["run_id"].text()
        conversation = of.get((name, topic))
        if conversation is None:
            raise record["run_id"].error(
                f"there is no valid conversation {name!r} on the topic {topic!r}",
                allowed="SYSTEM/TRIAL of this run, as `harvest data export --format answers` writes it",
            )
        if (name, topic) in assigned:
            raise record["run_id"].error(f"{name!r} on {topic!r} was already assigned", advice="keep one of the two")
        said = [one for one in record["nuggets"].elements() if cleaner.text(one["text"].text()) in nuggets]
        if not nuggets or any(one["assignment"].text((*ASSIGNMENTS, FAILED)) == FAILED for one in said):
            failed["conversations of which an assignment failed"] += 1
            continue
        _refuse_others(record, topic, nuggets, wanted.setdefault(topic, nuggets), cleaner)
        about: dict[str, str | int] = {"trial": conversation.trial_id, "attempt": conversation.attempt}
        assigned[name, topic] = tuple(
            Judgment({**about, WANTED: cleaner.text(one["text"].text())}, HELD, one["assignment"].text(ASSIGNMENTS))
            for one in said
        )
    if elsewhere and not (created or assigned or failed):
        first, record = next(iter(elsewhere.items()))
        raise record["qid"].error(f"no conversation here is on the topic {first!r}", allowed=", ".join(sorted(names)))
    fresh = {topic: nuggets for topic, nuggets in wanted.items() if known.get(topic) != nuggets}
    return WantedFile(
        tuple(
            Judgment({"topic": topic, WANTED: text}, WANTED, importance)
            for topic, nuggets in fresh.items()
            for text, importance in nuggets.items()
        ),
        tuple(judgment for several in assigned.values() for judgment in several),
        len(created),
        len(assigned),
        (
            *([f"{pluralize(len(elsewhere), 'topic')} without a conversation here"] if elsewhere else []),
            *(f"{what}: {count}" for what, count in failed.items() if count),
        ),
    )


def _nuggets(record: JsonValue, cleaner: Redactor) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in record["nuggets"].elements():
        text = cleaner.text(one["text"].text())
        importance = one["importance"].text((*IMPORTANCES, FAILED))
        if text in found:
            secret = ": they differ only in what looks like a secret, which is not kept" if count_marks(text) else ""
            raise one["text"].error(f"this nugget occurs twice in one record{secret}", advice="keep one of them")
        if importance != FAILED:
            found[text] = importance
    if not record["nuggets"].elements():
        raise record["nuggets"].error(
            "the record has no nuggets", advice="leave it out: a topic without nuggets has no record"
        )
    return found


def _refuse_others(
    record: JsonValue, topic: str, given: Mapping[str, str], wanted: Mapping[str, str], cleaner: Redactor
) -> None:
    if given == wanted:
        return
    for one in record["nuggets"].elements():
        text = cleaner.text(one["text"].text())
        if text not in given:
            continue
        if text not in wanted:
            raise one["text"].error(
                f"this nugget does not belong to {topic!r}", advice="assign the nuggets that were created"
            )
        if given[text] != wanted[text]:
            raise one["importance"].error(
                f"the importance is {given[text]!r}, but the nugget was created with {wanted[text]!r}"
            )
    missing = next(text for text in wanted if text not in given)
    raise record["nuggets"].error(
        f"{len(given)} of the {len(wanted)} nuggets of {topic!r} are assigned; the first missing nugget is"
        f" {missing[:60]!r}",
        advice="assign each of them: a missing nugget would count as neither present nor absent",
    )


def wanted_nuggets(layers: Iterable[Layer]) -> dict[str, dict[str, str]]:
    """Return the importance of each nugget, by topic, from the newest layer that contains the topic."""
    found: dict[str, dict[str, str]] = {}
    for layer in layers:
        own: dict[str, dict[str, str]] = {}
        for judgment in layer.judgments:
            match judgment:
                case Judgment(about={"topic": str(topic), "wanted": str(text)}, criterion="wanted", value=str(value)):
                    own.setdefault(topic, {})[text] = value
        found.update(own)
    return found


def contained_nuggets(layers: Iterable[Layer]) -> dict[tuple[str, str], Held]:
    """Return the nuggets in conversations by kind and author, from the newest layer for each conversation."""
    found: dict[tuple[str, str], dict[tuple[str, int], dict[str, str]]] = {}
    for layer in layers:
        own: dict[tuple[str, int], dict[str, str]] = {}
        for judgment in layer.judgments:
            match judgment:
                case Judgment(
                    about={"trial": str(trial), "attempt": int(attempt), "wanted": str(text)},
                    criterion="held",
                    value=str(value),
                ):
                    own.setdefault((trial, attempt), {})[text] = value
        if own:
            found.setdefault((layer.kind, layer.author), {}).update(own)
    return dict(found)


def write_created(
    wanted: Mapping[str, Mapping[str, str]], requests: Mapping[str, str], path: str | PathLike[str]
) -> None:
    """Write the nuggets of topics. `requests` has the user's request by topic. Raises the errors of `write_export`."""
    _write(
        path,
        (
            {"query": requests.get(topic, topic), "qid": topic, "nuggets": _list_nuggets(nuggets, {})}
            for topic, nuggets in wanted.items()
        ),
    )


def write_assigned(
    wanted: Mapping[str, Mapping[str, str]],
    held: Held,
    conversations: Sequence[Conversation],
    requests: Mapping[str, str],
    path: str | PathLike[str],
) -> int:
    """Write each conversation with assigned nuggets, and return their number. Raises as `write_export` does."""
    rows: list[dict[str, Json]] = []
    for one in conversations:
        said = held.get((one.trial_id, one.attempt))
        nuggets = wanted.get(one.key.topic, {})
        if said is None or said.keys() != nuggets.keys():
            continue
        text = "\n\n".join(turn.reply.answer.text for turn in one.turns if turn.reply is not None)
        rows.append(
            {
                "query": requests.get(one.key.topic, one.key.topic),
                "qid": one.key.topic,
                "answer_text": text,
                "response_length": len(text.split()),
                "run_id": f"{one.key.system}/{one.key.trial}",
                "nuggets": _list_nuggets(nuggets, said),
            }
        )
    _write(path, rows)
    return len(rows)


def _list_nuggets(nuggets: Mapping[str, str], said: Mapping[str, str]) -> list[Json]:
    return [
        {"text": text, "importance": importance, **({"assignment": said[text]} if said else {})}
        for text, importance in nuggets.items()
    ]


def _write(path: str | PathLike[str], rows: Iterable[Mapping[str, Json]]) -> None:
    data = b"".join(encode_line(dict(row)) for row in rows)
    if not data:
        raise InputError("there is nothing to write", advice="import nuggets first (--import)")
    write_export(path, data)
