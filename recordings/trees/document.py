"""Trees written as JSON, `harvest-tree/1`, and read back.

    {"format": "harvest-tree/1",
     "trees": [{
       "merge": "exact",
       "keys": [{"speaker": "system", "name": "exact", "version": "1", "reason": "the same words …"}, …],
       "scope": {"systems": ["B1"], "topics": ["M002"], "protocols": ["9a…"], "invalid": 1, "interrupted": 0},
       "outcomes": ["breakdown", "completed"],
       "symbols": [{"speaker": "system", "key": "…", "text": "…"}, …],
       "nodes": [{"parent": -1, "symbol": -1, "visits": 10, "stops": 0, "endings": [0, 0], "texts": []}, …],
       "trials": [{"system": "B1", "topic": "M002", "trial": 1, "attempt": 1, "end": 4, "outcome": "completed"}, …]}]}

Nodes are in pre-order, and node 0 is the root. `texts` has the fingerprints (hex) of the different texts merged at a
node, at most 64. If the trials have no names, the tree has `ends`, the last node of each trial, instead of `trials`.
A trial without `outcome` has an unknown end, or the file predates outcomes. Other keys (`statistics`, …) are for
readers, and are ignored when a tree is read back.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from recordings.conversations.conversation import TrialKey
from recordings.trees.fingerprints import MOST_TEXTS
from recordings.trees.tree import ConversationTree, DeclaredKey, FoldedTrial, Scope, Symbol
from topics.errors import InputError, Place
from topics.json_file import read_json_value

FORMAT = "harvest-tree/1"
STUDY_FORMAT = "harvest-tree/2"
_FINGERPRINT = re.compile(r"[0-9a-f]{12}")


def trees_as_json(trees: Sequence[ConversationTree]) -> dict[str, Any]:
    return {"format": FORMAT, "trees": [tree_as_json(tree) for tree in trees]}


def tree_as_json(tree: ConversationTree) -> dict[str, Any]:
    columns = [tree.parent.tolist(), tree.symbol.tolist(), tree.visits.tolist(), tree.stops.tolist()]
    value: dict[str, Any] = {
        "merge": tree.merge,
        "keys": [asdict(key) for key in tree.keys],
        "scope": {key: list(item) if isinstance(item, tuple) else item for key, item in asdict(tree.scope).items()},
        "outcomes": list(tree.outcomes),
        "symbols": [asdict(symbol) for symbol in tree.symbols],
        "nodes": [
            {
                "parent": parent,
                "symbol": symbol,
                "visits": visits,
                "stops": stops,
                "endings": endings,
                "texts": [f"{mark:012x}" for mark in marks],
            }
            for parent, symbol, visits, stops, endings, marks in zip(*columns, tree.endings.tolist(), tree.fingerprints)
        ],
    }
    ends = tree.ends.tolist()
    if tree.trials:
        value["trials"] = [
            {**asdict(trial.key), "attempt": trial.attempt, "end": end, **({"outcome": name} if name else {})}
            for trial, end, name in zip(tree.trials, ends, tree.end_names())
        ]
    else:
        value["ends"] = ends
    return value


def read_trees(path: str | PathLike[str]) -> tuple[ConversationTree, ...]:
    """Read the trees in the file at `path`. Raises InputError, with the file, if the document is invalid."""
    return trees_from_json(read_json_value(path).value, Place.of(path))


def trees_from_json(value: object, place: Place) -> tuple[ConversationTree, ...]:
    """Return the trees in a document. Raises InputError, naming `place` and the error."""
    if not isinstance(value, dict) or value.get("format") not in (FORMAT, STUDY_FORMAT):
        found = value.get("format") if isinstance(value, dict) else None
        raise InputError(
            f"this is not a file of trees (its format is {found!r})",
            place=place,
            allowed=f"{FORMAT}, {STUDY_FORMAT}",
            advice="write one with `harvest tree RUN --format json`",
        )
    reader = _Reader(place)
    return tuple(
        tree_from_json(tree, place, f"trees[{i}]") for i, tree in enumerate(reader.rows(value, "trees", "the document"))
    )


def tree_from_json(value: object, place: Place, where: str = "the tree") -> ConversationTree:
    """Return one tree of a document. Raises InputError, naming `place` and the error."""
    read = _Reader(place)
    tree = read.mapping(value, where)
    scope = read.mapping(tree.get("scope"), f"{where}.scope")
    nodes = read.rows(tree, "nodes", where)
    named = "trials" in tree
    trials = read.rows(tree, "trials", where) if named else []
    outcomes = read.texts(tree, "outcomes", where)
    columns: dict[str, list[int]] = {
        name: [read.whole_number(node, name, f"{where}.nodes[{i}]") for i, node in enumerate(nodes)]
        for name in ("parent", "symbol", "visits", "stops")
    }
    endings = [read.whole_numbers(node, "endings", f"{where}.nodes[{i}]") for i, node in enumerate(nodes)]
    if any(len(row) != len(outcomes) for row in endings):
        read.fail(f"{where}.nodes: endings must have one number for each of the {len(outcomes)} outcomes")
    ends = [read.whole_number(one, "end", f"{where}.trials[{i}]") for i, one in enumerate(trials)]
    kinds = read.kinds(trials, outcomes, f"{where}.trials")
    try:
        return ConversationTree(
            merge=read.text(tree, "merge", where),
            symbols=tuple(
                Symbol(*(read.text(one, name, f"{where}.symbols[{i}]") for name in ("speaker", "key", "text")))
                for i, one in enumerate(read.rows(tree, "symbols", where))
            ),
            parent=np.array(columns["parent"], dtype=np.int32),
            symbol=np.array(columns["symbol"], dtype=np.int32),
            visits=np.array(columns["visits"], dtype=np.int64),
            stops=np.array(columns["stops"], dtype=np.int64),
            ends=np.array(ends if named else read.whole_numbers(tree, "ends", where), dtype=np.int32),
            trials=tuple(read.trial(one, f"{where}.trials[{i}]") for i, one in enumerate(trials)),
            keys=tuple(
                DeclaredKey(
                    *(read.text(one, name, f"{where}.keys[{i}]") for name in ("speaker", "name", "version", "reason"))
                )
                for i, one in enumerate(read.rows(tree, "keys", where))
            ),
            scope=read.scope(scope, f"{where}.scope"),
            outcomes=tuple(outcomes),
            endings=np.array(endings, dtype=np.int64).reshape(len(nodes), len(outcomes)),
            fingerprints=tuple(read.marks(node, f"{where}.nodes[{i}]") for i, node in enumerate(nodes)),
            kinds=np.array(kinds, dtype=np.int32),
        )
    except (ValueError, OverflowError) as fault:
        read.fail(f"{where}: {fault}")


class _Reader:
    def __init__(self, place: Place) -> None:
        self.place = place

    def fail(self, what: str) -> NoReturn:
        raise InputError(what, place=self.place)

    def mapping(self, value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(f"{where} is not an object")
        return value

    def rows(self, value: dict[str, Any], name: str, where: str) -> list[dict[str, Any]]:
        found = value.get(name)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self.fail(f"{where} has no list of objects {name!r}")
        return found

    def text(self, value: dict[str, Any], name: str, where: str) -> str:
        found = value.get(name)
        if not isinstance(found, str):
            self.fail(f"{where} has no text {name!r}")
        return found

    def texts(self, value: dict[str, Any], name: str, where: str) -> list[str]:
        found = value.get(name)
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            self.fail(f"{where} has no list of texts {name!r}")
        return found

    def whole_number(self, value: dict[str, Any], name: str, where: str) -> int:
        found = value.get(name)
        if not isinstance(found, int) or isinstance(found, bool):
            self.fail(f"{where} has no whole number named {name!r}")
        return found

    def whole_numbers(self, value: dict[str, Any], name: str, where: str) -> list[int]:
        found = value.get(name)
        if not isinstance(found, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in found):
            self.fail(f"{where} has no list of whole numbers named {name!r}")
        return found

    def scope(self, value: dict[str, Any], where: str) -> Scope:
        systems, topics, protocols = (
            tuple(self.texts(value, name, where)) for name in ("systems", "topics", "protocols")
        )
        return Scope(
            systems,
            topics,
            protocols,
            self.whole_number(value, "invalid", where),
            self.whole_number(value, "interrupted", where),
        )

    def marks(self, value: dict[str, Any], where: str) -> tuple[int, ...]:
        found = self.texts(value, "texts", where)
        if not all(_FINGERPRINT.fullmatch(one) for one in found) or found != sorted(set(found)):
            self.fail(f"{where}.texts must be different fingerprints of 12 hex digits, sorted")
        if len(found) > MOST_TEXTS:
            self.fail(f"{where}.texts has {len(found)} fingerprints, and {MOST_TEXTS} are kept at most")
        return tuple(int(one, 16) for one in found)

    def kinds(self, trials: Sequence[dict[str, Any]], outcomes: Sequence[str], where: str) -> list[int]:
        """Return the outcome of each trial, or [] for a tree without outcomes, which an earlier version wrote."""
        if not any("outcome" in one for one in trials):
            return []
        known: dict[object, int] = {None: -1, **{name: number for number, name in enumerate(outcomes)}}
        for i, one in enumerate(trials):
            if not isinstance(name := one.get("outcome"), str | None) or name not in known:
                self.fail(f"{where}[{i}].outcome is {name!r}, and the outcomes are {', '.join(outcomes)}")
        return [known[one.get("outcome")] for one in trials]

    def trial(self, value: dict[str, Any], where: str) -> FoldedTrial:
        key = TrialKey(
            self.text(value, "system", where),
            self.text(value, "topic", where),
            self.whole_number(value, "trial", where),
        )
        return FoldedTrial(key, self.whole_number(value, "attempt", where))
