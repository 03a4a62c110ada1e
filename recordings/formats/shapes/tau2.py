"""Results of tau2-bench, in which a simulated user talks with an agent that has tools.

    {"info": {"agent_info": {"llm": "gpt-4.1"}}, "simulations": [
        {"id": …, "task_id": "1", "trial": 0, "termination_reason": "user_stop", "messages": […], "reward_info": …}]}

A task is a topic. Trials are counted from 0 there. A user who leaves says so by a mark such as `###STOP###`, which is
not a part of the words. The reward judges the whole conversation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from recordings.conversations.conversation import INVALID
from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.message_sides import Judged
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text, topic_name
from topics.json_value import JsonValue

_MARK = re.compile(r"\s*###(?:STOP|TRANSFER|OUT-OF-SCOPE)###\s*")
# How a conversation ended, by the reason in the file. An agent that stops has done its part.
_OUTCOMES = {
    "user_stop": "user-stopped",
    "agent_stop": "completed",
    "max_steps": "turn-limit",
    "timeout": "turn-limit",
    "too_many_errors": "system-ended",
    "agent_error": "system-ended",
    "context_window_exceeded": "system-ended",
    "user_error": INVALID,
    "infrastructure_error": INVALID,
    "unexpected_error": INVALID,
}
_READ_KEYS = ("role", "content", "tool_calls", "timestamp", "usage")


def _holds(value: Json) -> bool:
    return has_keys(value, "info", "simulations")


def _group(values: Iterable[JsonValue], options: ShapeOptions) -> Iterator[Group]:
    for value in values:
        for one in value["simulations"].elements():
            yield value, one


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    results, one = group
    name, passed = id_text(one["task_id"]), Counter[str]()
    metadata: dict[str, Json] = {"topic": topic_name(name), "trial": one["trial"].index() + 1}
    info = results["info"]
    if info.has_key("agent_info") and info["agent_info"].has_key("llm"):
        metadata["system"] = info["agent_info"]["llm"].text()
    if one.has_key("termination_reason") and (reason := one["termination_reason"].value) is not None:
        reason = one["termination_reason"].text()
        if reason.removeprefix("TerminationReason.").lower() in _OUTCOMES:
            kind = _OUTCOMES[reason.removeprefix("TerminationReason.").lower()]
            metadata |= {"outcome": kind, "reason": reason}
        else:
            passed[f"reasons of the end ({reason[:40]})"] += 1
    for key, own in (("started_at", "start_time"), ("ended_at", "end_time")):
        if one.has_key(own) and isinstance(one[own].value, str):
            metadata[key] = one[own].value
    messages: list[Json] = []
    for message in one["messages"].elements():
        role = message["role"].text()
        said = {key: message[key].value for key in _READ_KEYS if message.has_key(key)}
        if role == "user" and isinstance(said.get("content"), str):
            words = _MARK.sub(" ", str(said["content"])).strip() if _MARK.search(str(said["content"])) else None
            if words == "" and not said.get("tool_calls"):
                continue  # the user left without a word
            said["content"] = said["content"] if words is None else words
        messages.append(said)
    yield Record({"messages": messages, "metadata": metadata}, one, "", passed, tuple(_reward(one)))


def _reward(one: JsonValue) -> Iterator[Judged]:
    if one.has_key("reward_info") and one["reward_info"].has_key("reward"):
        reward = one["reward_info"]["reward"].value
        if isinstance(reward, int | float) or reward is None:
            yield Judged("reward", reward, "tau2-bench", "rule")


TAU2 = Shape(
    "tau2", "results of tau2-bench: every task a topic, with the end of each simulation", _holds, _read, _group
)
