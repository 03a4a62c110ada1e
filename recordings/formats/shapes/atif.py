"""Trajectories of agents in the Agent Trajectory Interchange Format (ATIF), versions 1.0 to 1.7.

    {"schema_version": "ATIF-v1.6", "session_id": "x", "agent": {"name": "B1", "version": "1"}, "steps": [
        {"step_id": 1, "source": "user", "message": "Hi"},
        {"step_id": 2, "source": "agent", "message": "Yes.", "tool_calls": […], "observation": {…}, "metrics": {…}}]}

Steps of the agent in a row are one turn. Tool calls and reasoning are parts of its answer; what tools returned is
counted. A trajectory that `harvest data export` wrote has its metadata in `extra`.
"""

from collections import Counter
from collections.abc import Iterator

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text
from topics.json_value import JsonValue

_ROLES = {"user": "user", "agent": "assistant", "system": "system"}


def _holds(value: Json) -> bool:
    return has_keys(value, "steps", "agent") and (
        has_keys(value, "schema_version") or has_keys(value, "session_id", "steps")
    )


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (trajectory,) = group
    passed: Counter[str] = Counter()
    agent = trajectory["agent"]
    metadata: dict[str, Json] = {"system": agent["name"].text()}
    model = agent["model_name"].value if agent.has_key("model_name") else None
    messages: list[Json] = []
    for step in trajectory["steps"].elements():
        role = _ROLES[step["source"].text(tuple(_ROLES))]
        message: dict[str, Json] = {"role": role, "content": _content(step)}
        if step.has_key("timestamp"):
            message["timestamp"] = step["timestamp"].value
        if role == "assistant":
            message["model"] = step["model_name"].value if step.has_key("model_name") else model
            for key, own in (("tool_calls", "tool_calls"), ("reasoning_content", "reasoning_content")):
                if step.has_key(own):
                    message[key] = step[own].value
            if step.has_key("metrics"):
                message["usage"] = step["metrics"].value
            if message["content"] == "" and (message.get("tool_calls") or message.get("reasoning_content")):
                message["content"] = None  # a step between the question and the answer
        if step.has_key("observation"):
            observed = step["observation"].value
            results = observed.get("results") if isinstance(observed, dict) else None
            passed["results of tools"] += len(results) if isinstance(results, list) else 1
        messages.append(message)
    extra = trajectory["extra"].value if trajectory.has_key("extra") else None
    ours: Json = extra.get("harvest") if isinstance(extra, dict) else None
    line: dict[str, Json] = {"messages": messages, "metadata": {**metadata, **(ours if isinstance(ours, dict) else {})}}
    if trajectory.has_key("session_id") and trajectory["session_id"].value is not None:
        line["id"] = id_text(trajectory["session_id"])
    yield Record(line, trajectory, "", passed)


def _content(step: JsonValue) -> Json:
    content = step["message"].value if step.has_key("message") else ""
    return "" if content is None else content


ATIF = Shape("atif", "trajectories of agents in ATIF 1.0 to 1.7 (Harbor, Inspect Scout, Phoenix)", _holds, _read)
