"""A parrot's conversations as a tree of known probabilities: what a tree of trials must come close to.

`parrot_truth.paths` enumerates the ways a conversation can go; here they are folded by a key, as trials are, but with
their exact probabilities in place of counts. Scores over it (`scoring.stochastic`) are exact expectations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.support.parrot_truth import Path

# The key of every user turn: the protocol decides it, given the turns before.
USER = "user"


@dataclass(frozen=True, slots=True, eq=False)
class KnownTree:
    """N nodes, parents before children, node 0 the root, before anything is said.

    prefixes: the keys from the root to each node. parent: (N,), -1 for the root. probability: (N,) of each node given
    its parent, 1 for the root; what is missing from 1 at a node is the probability of stopping there.
    ends: (paths,) the node each of the paths ends at. weights: (paths,) their probabilities.
    """

    prefixes: tuple[tuple[str, ...], ...]
    parent: npt.NDArray[np.int32]
    probability: npt.NDArray[np.float64]
    ends: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]


def label_path(way: Path) -> tuple[str, ...]:
    """User, label, user, label, …: paths of the same labels are one, as in a tree merged by label."""
    return tuple(key for label in way.labels[: len(way.behaviours)] for key in (USER, label))


def behaviour_path(way: Path) -> tuple[str, ...]:
    """User, behaviour, user, behaviour, …: the parrot's own states."""
    return tuple(key for behaviour in way.behaviours for key in (USER, behaviour))


def known_tree(ways: Sequence[Path], key: Callable[[Path], Sequence[str]] = label_path) -> KnownTree:
    """The tree of all paths. Nodes are sorted by depth, then by key."""
    if not ways:
        raise ValueError("no paths: there is no tree of them")
    keyed = [tuple(key(way)) for way in ways]
    mass: dict[tuple[str, ...], float] = {}
    for path, way in zip(keyed, ways, strict=True):
        for length in range(len(path) + 1):
            mass[path[:length]] = mass.get(path[:length], 0.0) + way.probability
    prefixes = sorted(mass, key=lambda prefix: (len(prefix), prefix))
    place = {prefix: node for node, prefix in enumerate(prefixes)}
    chances = [1.0, *(min(1.0, mass[prefix] / mass[prefix[:-1]]) for prefix in prefixes[1:])]
    return KnownTree(
        prefixes=tuple(prefixes),
        parent=np.array([-1, *(place[prefix[:-1]] for prefix in prefixes[1:])], dtype=np.int32),
        probability=np.array(chances),
        ends=np.array([place[path] for path in keyed], dtype=np.int32),
        weights=np.array([way.probability for way in ways]),
    )
