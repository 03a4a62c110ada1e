"""ChatGPT's export, `conversations.json`: a conversation is a tree, for answers are made again and questions edited.

    {"id": …, "create_time": 1700000000.0, "mapping": {NODE: {"message": {…}, "parent": NODE, "children": [NODE, …]}}}

Each path from the first message to a last one is a conversation of its own, and the paths are trials of one topic: the
same question, answered again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recordings.json_text import Json

_READ = ("mapping", "messages", "current_node", "id", "conversation_id", "create_time", "update_time")


def is_chatgpt(value: Json) -> bool:
    """Whether a JSON value is a conversation of this export."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return False
    if value.get("messages") and isinstance(value["messages"], list):  # another program's, with a `mapping` of its own
        return False
    return all(isinstance(node, dict) and "parent" in node for node in value["mapping"].values())


def paths_of(value: Mapping[str, Any]) -> Sequence[tuple[dict[str, Any], str]]:
    """Each path as an object with `messages`, and the conversation's id, which is what all of them are about. At least
    one: a conversation in which nothing was said has no messages."""
    nodes = value["mapping"]
    parents = {node["parent"] for node in nodes.values()}
    name = str(value.get("conversation_id") or value.get("id") or "")
    paths: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for leaf in [one for one in nodes if one not in parents] or [None]:
        path: dict[str, None] = {}
        at = leaf
        while at in nodes and at not in path:  # a parent may be missing, and a damaged export may go in circles
            path[at] = None
            at = nodes[at]["parent"]
        said = [(one, message) for one in reversed(path) if (message := _message(nodes[one].get("message")))]
        paths.setdefault(tuple(one for one, _ in said), [message for _, message in said])
    further = {key: value[key] for key in value if key not in _READ and value[key] not in (None, [], {}, "")}
    began = {"create_time": value.get("create_time")}
    return [
        ({"messages": messages, "id": "/".join((name, *path[-1:] * (len(paths) > 1))), **began, **further}, name)
        for path, messages in paths.items()
    ]


def _message(message: Json) -> dict[str, Any]:
    """The message as others write it; {} for what nobody saw. What is not text keeps its kind alone."""
    if not isinstance(message, dict) or not isinstance(message.get("author"), dict):
        return {}
    if isinstance(about := message.get("metadata"), dict) and about.get("is_visually_hidden_from_conversation"):
        return {}
    role, content = message["author"].get("role"), message.get("content")
    if role == "system" or not isinstance(content, dict):
        return {}
    kind = content.get("content_type")
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        return {"role": "assistant", "content": [{"type": "tool_call"}]}
    if kind in ("text", "multimodal_text") and isinstance(content.get("parts"), list):
        parts = [part if isinstance(part, str) else {"type": _kind(part)} for part in content["parts"]]
        return {"role": role, "content": parts}
    return {"role": role, "content": [{"type": str(kind)}]}


def _kind(part: Json) -> str:
    return str(part.get("content_type")) if isinstance(part, dict) else "unknown"
