"""The topic trees of TREC CAsT 2022: one tree of utterances for each topic, given by the `parent` of each utterance.

    [{"number": 132, "turn": [{"number": "1-1", "participant": "User", "utterance": "…"},
                              {"number": "1-2", "parent": "1-1", "participant": "System", "response": "…"}, …]}, …]

The number of a node gives neither its depth nor its speaker. The file has no probabilities: each path from the root to
a leaf counts as one trial, so shares of visits are shares of paths and not shares of people.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.log.header import trial_identity
from recordings.trees.builder import MergeKey, TreeBuilder, combine_keys
from recordings.trees.node_text import one_line, shorten
from recordings.trees.tree import ConversationTree, FoldedTrial, Scope
from topics.errors import InputError, Place
from topics.json_file import read_json_value

# Default system of the conversations, because the file names none.
SYSTEM = "cast2022"


_MOST_TURNS = 200_000  # of all paths: a tree of n nodes may have paths of n²/4


@dataclass(frozen=True, slots=True)
class Cast:
    """The content of a file. `trees` has one tree for each topic, in the order of the file, merged by the numbers of
    the nodes. `conversations` has one conversation for each path, with the topic's number as its topic and the path's
    number as its trial. A user turn without an answer has no reply. A turn's state is the number of its user node."""

    trees: tuple[ConversationTree, ...]
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    number: str
    parent: str | None
    speaker: str
    text: str


def _refuse_turn(turn: Turn) -> str:
    raise AssertionError("nodes of a CAsT tree are merged by number, without this function")


_NUMBER = MergeKey("number", "cast2022", _refuse_turn, "one node of the file")
_NUMBERED = combine_keys(_NUMBER, _NUMBER)


def read_cast(path: str | PathLike[str], *, system: str = SYSTEM) -> Cast:
    """Read the trees in the file at `path`. Raises InputError, naming the topic and the node, for an invalid tree."""
    place = Place.of(path)
    value = read_json_value(path).value
    if not isinstance(value, list) or not value:
        raise InputError("this is not a list of topics", place=place, allowed='[{"number": 132, "turn": […]}, …]')
    trees: list[ConversationTree] = []
    conversations: list[Conversation] = []
    seen: dict[str, int] = {}
    held = 0
    for i, row in enumerate(value):
        name, nodes = _read_topic(row, f"topic {i + 1} of the list", place)
        if name in seen:
            both = f"entries {seen[name]} and {i + 1} of the list"
            raise InputError(f"{both} are both topic {_show_name(name)}", place=place)
        seen[name] = i + 1
        leaves = _find_leaves(nodes, f"topic {_show_name(name)}", place)
        held += sum(depth for _, depth in leaves)
        if held > _MOST_TURNS:
            raise InputError(
                f"topic {_show_name(name)}: the paths up to here have too many turns ({held:,}), with shared turns "
                "counted for each path",
                place=place,
                allowed=f"{_MOST_TURNS:,} turns in one file",
                advice="give the topics in several files, or in smaller trees",
            )
        builder = TreeBuilder(_NUMBERED)
        turns_of: dict[tuple[str, str], Turn] = {}
        for trial, (leaf, _) in enumerate(leaves, 1):
            path_nodes = [leaf]
            while (parent := path_nodes[0].parent) is not None:
                path_nodes.insert(0, nodes[parent])
            conversation = _path_conversation(path_nodes, TrialKey(system, name, trial), turns_of)
            conversations.append(conversation)
            turns = ((node.speaker, node.number, node.text) for node in path_nodes)
            builder.add_path(turns, FoldedTrial(conversation.key), "completed")
        trees.append(replace(builder.tree(), scope=Scope((system,), (name,), ("",))))
    return Cast(tuple(trees), tuple(conversations))


def _read_topic(value: object, where: str, place: Place) -> tuple[str, dict[str, _Node]]:
    if not isinstance(value, dict) or not isinstance(value.get("turn"), list):
        raise InputError(f"{where} has no list 'turn'", place=place)
    name = value.get("number")
    if isinstance(name, bool) or not isinstance(name, (int, str)) or not str(name).strip():
        raise InputError(f"{where} has no 'number'", place=place, allowed="a whole number or text")
    name = str(name)
    nodes: dict[str, _Node] = {}
    for i, row in enumerate(value["turn"]):
        node = _read_node(row, f"topic {_show_name(name)}, turn {i + 1}", place)
        if node.number in nodes:
            turns = f"turns {list(nodes).index(node.number) + 1} and {i + 1}"
            what = f"node {_show_name(node.number)} is repeated"
            raise InputError(f"topic {_show_name(name)}: {what}: {turns}", place=place)
        nodes[node.number] = node
    return name, nodes


def _show_name(name: str) -> str:
    return shorten(one_line(name[:200]), 40) or repr(name)


def _read_node(value: Any, where: str, place: Place) -> _Node:
    number, parent = (value.get("number"), value.get("parent")) if isinstance(value, dict) else (None, None)
    if not isinstance(number, str) or not number.strip() or not isinstance(parent, (str, type(None))):
        allowed = 'text, such as {"number": "1-3", "parent": "1-1", …}; the root has no parent'
        wrong = "parent" if isinstance(number, str) and number.strip() else "number"
        found = f"{wrong!r} is {_kind_of(value.get(wrong))}" if isinstance(value, dict) else f"it is {_kind_of(value)}"
        raise InputError(
            f"{where}: 'number' and 'parent' of a node must be text, but {found}", place=place, allowed=allowed
        )
    where = f"{where} ({_show_name(number)})"
    if number == parent:
        raise InputError(f"{where}: node {_show_name(number)} is its own parent", place=place)
    side = value.get("participant")
    if side not in ("User", "System"):
        raise InputError(f"{where}: the participant is {_show_name(str(side))}", place=place, allowed="User, System")
    field = "utterance" if side == "User" else "response"
    text = value.get(field)
    if not isinstance(text, str):
        raise InputError(
            f"{where} has no text {field!r}",
            place=place,
            advice="give the tree file (2022_evaluation_topics_tree_v1.0.json), not the flattened one",
        )
    return _Node(number, parent, side.lower(), text)


def _find_leaves(nodes: dict[str, _Node], where: str, place: Place) -> list[tuple[_Node, int]]:
    """Return the last node of each path from the root, with the nodes of the path. The order is depth first, with
    branches in the order of the file."""
    branches: dict[str | None, list[_Node]] = {}
    for node in nodes.values():
        if node.parent is not None and node.parent not in nodes:
            raise InputError(
                f"{where}: node {_show_name(node.number)} has the parent {_show_name(node.parent)}, which does not "
                "exist",
                place=place,
            )
        branches.setdefault(node.parent, []).append(node)
    roots = branches.get(None, [])
    if len(roots) != 1:
        found = _list_numbers(root.number for root in roots)
        if not roots:
            found = f"none: its {len(nodes)} nodes form a cycle" if nodes else "none: it has no turns"
        raise InputError(f"{where} must have exactly one node without a parent, but has: {found}", place=place)
    reached: set[str] = set()
    leaves: list[tuple[_Node, int]] = []
    going = [(roots[0], 1, "system")]
    while going:
        node, depth, before = going.pop()
        reached.add(node.number)
        if node.speaker == before:
            raise InputError(
                f"{where}: node {_show_name(node.number)} is a second {node.speaker} turn in a row", place=place
            )
        below = branches.get(node.number, [])
        if not below:
            leaves.append((node, depth))
        going.extend((one, depth + 1, node.speaker) for one in reversed(below))
    apart = [number for number in nodes if number not in reached]
    if apart:
        what = f"{len(apart)} nodes form a cycle, apart from the root: {_list_numbers(apart)}"
        raise InputError(f"{where}: {what}", place=place)
    return leaves


def _list_numbers(numbers: Iterable[str]) -> str:
    shown = [_show_name(number) for number in numbers]
    return ", ".join(shown[:8]) + (f", … ({len(shown)})" if len(shown) > 8 else "")


_KINDS = {type(None): "not given", bool: "true or false", dict: "an object", list: "a list", str: "an empty text"}


def _kind_of(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _path_conversation(path: Sequence[_Node], key: TrialKey, made: dict[tuple[str, str], Turn]) -> Conversation:
    turns = []
    for i in range(0, len(path), 2):
        asked, answer = path[i], path[i + 1] if i + 1 < len(path) else None
        numbers = (asked.number, answer.number if answer else "")
        if numbers not in made:
            reply = None if answer is None else SystemTurn(Answer.of(answer.text))
            made[numbers] = Turn(i // 2 + 1, asked.number, asked.text, reply)
        turns.append(made[numbers])
    answered = "the path ends here" if len(path) % 2 == 0 else "the path ends with a user turn that nobody answered"
    outcome = Outcome("completed", "import", answered)
    return Conversation(
        key, trial_identity(None, key.topic, {"name": key.system}, key.trial), 1, tuple(turns), outcome, user="imported"
    )
