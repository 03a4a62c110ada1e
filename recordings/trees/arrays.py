"""Trees of very many trials as arrays and JSON, without the names of the trials, which are known elsewhere."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recordings.files.json_text import Json
from recordings.trees.fingerprints import Fingerprints
from recordings.trees.tree import ConversationTree, DeclaredKey, Symbol
from topics.arrays import Counts

_ARRAYS = ("parent", "symbol", "visits", "stops", "ends", "endings", "kinds")


def reorder(tree: ConversationTree, order: Counts) -> ConversationTree:
    """Return a tree without names whose trials are given in another order."""
    return replace(tree, ends=tree.ends[order], kinds=tree.kinds[order])


def tree_arrays(of: ConversationTree, name: str) -> tuple[dict[str, Json], dict[str, Any]]:
    """Return a tree as JSON and as arrays. The names of the arrays begin with `name`."""
    prints = of.fingerprints
    assert isinstance(prints, Fingerprints), "a finished tree has them"
    told: dict[str, Json] = {
        "merge": of.merge,
        "symbols": [[one.speaker, one.key, one.text] for one in of.symbols],
        "keys": [[one.speaker, one.name, one.version, one.reason] for one in of.keys],
        "outcomes": list(of.outcomes),
    }
    arrays = {f"{name} {field}": getattr(of, field) for field in _ARRAYS}
    return told, {**arrays, f"{name} starts": prints.starts, f"{name} marks": prints.marks}


def read_tree(told: Mapping[str, Any], arrays: Mapping[str, Any], name: str) -> ConversationTree:
    """Return what `tree_arrays` described. Raises ValueError, TypeError or LookupError for anything else."""
    return ConversationTree(
        merge=told["merge"],
        symbols=tuple(Symbol(*one) for one in told["symbols"]),
        keys=tuple(DeclaredKey(*one) for one in told["keys"]),
        outcomes=tuple(told["outcomes"]),
        fingerprints=Fingerprints(arrays[f"{name} starts"], arrays[f"{name} marks"]),
        **{field: arrays[f"{name} {field}"] for field in _ARRAYS},
    )
