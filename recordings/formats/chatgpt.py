"""ChatGPT's export, `conversations.json`. A conversation is a tree, because users regenerate answers and edit
questions.

    {"id": …, "create_time": 1700000000.0, "mapping": {NODE: {"message": {…}, "parent": NODE, "children": [NODE, …]}}}

Each path from the first message to a last message becomes a separate conversation. The paths are trials of one topic,
because they answer the same question again. A path with a missing message is left out, because an answer would seem to
belong to another question.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordings.files.json_text import Json
from topics.errors import InputError

_READ = ("mapping", "messages", "current_node", "id", "conversation_id", "create_time", "update_time")


def is_chatgpt(value: Json) -> bool:
    """Return True if a JSON value is a conversation of this export."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return False
    if value.get("messages") and isinstance(value["messages"], list):  # another program's, with a `mapping` of its own
        return False
    return all(isinstance(node, dict) and "parent" in node for node in value["mapping"].values())


# Counted if the page hides a message in the user's place that has an answer: it is read as the user's.
HIDDEN_KEPT = "hidden messages of the user"


@dataclass(slots=True)
class Path:
    """A path from the first message of a conversation to a last message. `keys` are the keys of its message nodes.
    `passed` counts, by kind, the messages that are left out because the page never showed them."""

    keys: list[str] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)

    def add(self, key: str, message: Json) -> None:
        found = _message(message)
        if not found:
            return
        if _is_hidden(message) and not (self.messages and found["role"] == "user"):
            self.passed["hidden messages"] += 1
        else:
            self.passed[HIDDEN_KEPT] += _is_hidden(message)
            self.keys.append(key)
            self.messages.append(found)


def paths_of(value: Mapping[str, Any]) -> tuple[Sequence[Path], InputError | None]:
    """Return the complete paths of a conversation, and an error that names missing messages, or None if no message is
    missing. An empty conversation has one path without messages. Raises InputError if a name is not text."""
    nodes = value["mapping"]
    for name in (value.get("current_node"), *(node["parent"] for node in nodes.values())):
        if name is not None and not isinstance(name, str):
            raise InputError("the name of a message in this conversation is not text", advice="export it again")
    parents = {node["parent"] for node in nodes.values()}
    roots = sum(not node["parent"] for node in nodes.values())
    named = [one for node in nodes.values() for one in (node["parent"], *_child_names(node.get("children")))]
    gone = {str(one) for one in (*named, value.get("current_node")) if one and one not in nodes}
    paths: dict[tuple[str, ...], Path] = {}
    reached: set[str] = set()
    broken = 0
    for leaf in [one for one in nodes if one not in parents]:
        way, whole = _path_from(nodes, leaf)
        reached |= way.keys()
        path = Path()
        for one in reversed(way):
            path.add(one, nodes[one].get("message"))
        cut = value.get("current_node") in gone or not gone.isdisjoint(_child_names(nodes[leaf].get("children")))
        apart = roots > 1 and bool(path.messages) and path.messages[0]["role"] == "assistant"
        if whole and not cut and not apart:
            paths.setdefault(tuple(path.keys), path)
        else:
            broken += 1
    broken += len(reached) < len(nodes)  # a circle, which has no last message
    if not broken and not gone:
        return list(paths.values()) or [Path()], None
    paths.pop((), None)
    total = len(paths) + max(1, broken)
    names = f" ({', '.join(sorted(gone)[:3])}{', …' if len(gone) > 3 else ''})" if gone else ""
    return list(paths.values()), InputError(
        f"messages of a conversation are missing{names}: {len(paths)} of its {total} paths "
        f"{'is' if len(paths) == 1 else 'are'} whole, and the others are left out",
        advice="export it again: on the other paths, answers would be read as answers to other questions",
    )


def records_of_paths(value: Mapping[str, Any], paths: Sequence[Path], *, several: bool) -> Sequence[dict[str, Any]]:
    """Return each path as an object with `messages`. If there are several paths, each path has its own id."""
    further = {key: value[key] for key in value if key not in _READ and value[key] not in (None, [], {}, "")}
    name = conversation_id(value)
    return [
        {
            "messages": path.messages,
            "id": "/".join((name, *path.keys[-1:] * several)),
            "create_time": value.get("create_time"),
            **further,
        }
        for path in paths
    ]


def conversation_id(value: Mapping[str, Any]) -> str:
    """Return the id of the conversation, which is the topic of all its paths."""
    return str(value.get("conversation_id") or value.get("id") or "")


def _child_names(children: Json) -> list[str]:
    return [one for one in children if isinstance(one, str)] if isinstance(children, list) else []


def _path_from(nodes: Mapping[str, Any], leaf: str) -> tuple[dict[str, None], bool]:
    """Return the nodes from a leaf towards the root, and True if the path is complete up to the root."""
    way: dict[str, None] = {}
    at: Any = leaf
    while at and at in nodes and at not in way:  # a damaged export may go in circles
        way[at] = None
        at = nodes[at]["parent"]
    return way, not at and not any(_has_lost_its_message(nodes[one]) for one in way)


def _has_lost_its_message(node: Mapping[str, Any]) -> bool:
    """Return True if the message of a node is missing or has no author. The root has no message in most exports."""
    message = node.get("message")
    if not message:
        return bool(node["parent"])
    return not isinstance(message, dict) or not isinstance(message.get("author"), dict)


def _is_hidden(message: Any) -> bool:
    about = message.get("metadata")
    return isinstance(about, dict) and bool(about.get("is_visually_hidden_from_conversation"))


def _message(message: Json) -> dict[str, Any]:
    """Return the role and content of a message, or {} for a system message. A message to a tool becomes a call, and of
    other parts that are not text only the kind is kept."""
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(author, dict) or author.get("role") == "system":
        return {}
    role, content, about = author.get("role"), message.get("content"), message.get("metadata")
    slug = about.get("model_slug") if isinstance(about, dict) else None
    found = {"role": role, "model": slug} if isinstance(slug, str) and role == "assistant" else {"role": role}
    if not isinstance(content, dict):
        return {**found, "content": [{"type": "without content"}]}
    kind = content.get("content_type")
    given = content["parts"] if isinstance(content.get("parts"), list) else []
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        said = "\n".join(one for one in (content.get("text"), *given) if isinstance(one, str))
        return {**found, "content": [{"type": "tool_call", "name": str(message["recipient"]), "arguments": said}]}
    if kind == "thoughts":
        return {**found, "content": [{"type": "thoughts", "thoughts": content.get("thoughts")}]}
    if kind in ("text", "multimodal_text") and isinstance(content.get("parts"), list):
        parts: list[Json] = []
        for part in given:
            kind = str(part.get("content_type")) if isinstance(part, dict) else "unknown"
            parts.append(part if isinstance(part, str) else {"type": kind})
        return {**found, "content": parts}
    return {**found, "content": [{"type": str(kind)}]}
