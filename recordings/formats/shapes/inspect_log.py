"""Logs of Inspect, the UK AI Security Institute's framework for evaluations.

    {"eval": {"model": "openai/gpt-4o", …}, "samples": [{"id": 1, "epoch": 1, "messages": […], "scores": {…}}, …]}

A `.eval` file is a ZIP archive with the same content: `header.json`, and a member `samples/ID_epoch_N.json` for each
sample. It is read one sample at a time. Inspect compresses the members by zstd. A sample is a topic, and an epoch a
trial. A message may be stored once for the whole sample, as `attachment://HASH`.
"""

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from recordings.conversations.conversation import INVALID
from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.message_sides import Judged
from recordings.formats.shapes import shape
from topics.errors import InputError, Place
from topics.json_value import JsonValue

_ATTACHMENT = "attachment://"
# Samples whose text is longer are refused. Archives may contain more than the machine can hold.
_LARGEST_MEMBER = 256 * 2**20


def _zip_module() -> Any:
    """Return the module for ZIP archives that reads zstd."""
    return import_module("zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile")


def _holds(value: Json) -> bool:
    return shape.has_keys(value, "eval", "samples") or (
        shape.has_keys(value, "eval", "plan") and isinstance(value, dict) and isinstance(value["eval"], dict)
    )


def _values(data: bytes, path: str, refuse: shape.Refuse) -> Iterator[JsonValue]:
    if not data.startswith(b"PK\x03\x04"):
        yield from shape.json_values(data, path, refuse)
        return
    try:
        archive = _zip_module().ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except Exception as fault:  # of a damaged archive, for which the module has errors of many classes
        raise InputError(f"the archive cannot be read: {fault}", place=Place(path), advice=_COPY) from None
    names = {member.filename for member in members}
    header = next((one for one in ("header.json", "_journal/start.json") if one in names), "")
    if not header:
        advice = "give the .eval file that Inspect wrote, or its log in JSON: inspect log convert --to json"
        raise InputError(
            "this archive is not a log of Inspect: it has no header.json", place=Place(path), advice=advice
        )
    yield from _member(archive, archive.getinfo(header), path, refuse)
    for member in members:
        if member.filename.startswith("samples/") and member.filename.endswith(".json"):
            yield from _member(archive, member, path, refuse)


_COPY = "copy the file again from where it was written"


def _member(archive: Any, member: Any, path: str, refuse: shape.Refuse) -> Iterator[JsonValue]:
    name = f"{path}/{member.filename}"
    try:
        if member.file_size > _LARGEST_MEMBER:
            raise ValueError(f"it has more than {_LARGEST_MEMBER // 2**20} MiB")
        with archive.open(member) as file:
            data = file.read(_LARGEST_MEMBER + 1)
        if len(data) > _LARGEST_MEMBER:
            raise ValueError(f"it has more than {_LARGEST_MEMBER // 2**20} MiB")
    except Exception as fault:  # of a decompressor, which has errors of its own
        refuse(InputError(f"the member cannot be read: {fault}", place=Place(name), advice=_COPY))
    else:
        try:
            yield from shape.json_values(data, name, refuse)
        except InputError as fault:
            refuse(fault)


def _group(values: Iterable[JsonValue], options: shape.ShapeOptions) -> Iterator[shape.Group]:
    """Put each sample after the log that it is from."""
    log: JsonValue | None = None
    for value in values:
        if shape.has_keys(value.value, "eval"):
            log = value
            if value.has_key("samples") and value["samples"].value is not None:
                for sample in value["samples"].elements():
                    yield value, sample
        elif log is None:
            raise value.error("this is not a log of Inspect", allowed='{"eval": {"model": …}, "samples": […]}')
        else:
            yield log, value


def _read(group: shape.Group, options: shape.ShapeOptions) -> Iterator[Record]:
    log, sample = group
    name, about, passed = shape.id_text(sample["id"]), log["eval"], Counter[str]()
    epoch = sample["epoch"].index() if sample.has_key("epoch") else 1
    held = sample.value if isinstance(sample.value, dict) else {}
    attached = held["attachments"] if isinstance(held.get("attachments"), dict) else {}
    messages = [_resolve(one.value, attached) for one in sample["messages"].elements()]
    metadata: dict[str, Json] = {"topic": shape.topic_name(name), "trial": max(1, epoch), **_end(held)}
    if about.has_key("model"):
        metadata["system"] = about["model"].text()
    _add_finish(messages, held.get("output"))
    yield Record({"messages": messages, "metadata": metadata}, sample, "", passed, tuple(_scores(held.get("scores"))))


def _resolve(message: Json, attached: Mapping[str, Any]) -> Json:
    """Return a message without what only Inspect reads, with the texts of its attachments."""
    if not isinstance(message, dict):
        return message
    found: dict[str, Json] = {key: message[key] for key in ("role", "tool_calls", "model") if message.get(key)}
    content = message.get("content")
    if isinstance(content, list):
        parts = [dict(part) if isinstance(part, dict) else part for part in content]
        for part in parts:
            if isinstance(part, dict):
                part |= {key: _whole(value, attached) for key, value in part.items()}
        return {**found, "content": parts}
    return {**found, "content": _whole(content, attached)}


def _whole(text: Any, attached: Mapping[str, Any]) -> Any:
    if isinstance(text, str) and text.startswith(_ATTACHMENT):
        return attached.get(text.removeprefix(_ATTACHMENT), text)
    return text


def _add_finish(messages: Sequence[Json], output: Json) -> None:
    """Add to the last message what the log says about the last output of the model."""
    if not isinstance(output, dict) or not messages or not isinstance(messages[-1], dict):
        return
    last, choices = messages[-1], output.get("choices")
    if last.get("role") != "assistant":
        return
    last["usage"] = output.get("usage")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        last["finish_reason"] = choices[0].get("stop_reason")


def _end(sample: Mapping[str, Any]) -> dict[str, Json]:
    if isinstance(error := sample.get("error"), dict):
        return {"outcome": INVALID, "reason": "error", "detail": str(error.get("message") or "")[:1000]}
    if isinstance(limit := sample.get("limit"), dict):
        return {"outcome": "turn-limit", "reason": f"limit of {limit.get('type') or 'the log'}"[:100]}
    return {}


def _scores(scores: Json) -> Iterator[Judged]:
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, str | int | float | bool) or value is None:
            note = score.get("explanation") if isinstance(score, dict) else ""
            kind = "model" if name.startswith("model_graded") else "rule"
            yield Judged(name or "score", value, f"Inspect {name}", kind, note=note if isinstance(note, str) else "")


INSPECT = shape.Shape(
    "inspect",
    "logs of Inspect, in JSON or as .eval: every sample a topic, every epoch a trial",
    _holds,
    _read,
    _group,
    _values,
)
