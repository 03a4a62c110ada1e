"""Exact enumeration of all conversations between an enumerable user and an enumerable system.

Nothing is drawn: each user turn branches into all actions that `distribution` lists, and each system turn into all
answers that `responses` lists. Scores expected over the tree are exact; means of many trials converge to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.answer import Answer, Exchange
from protocols.route import Say
from simulators.user import EnumerableUser, Observation, Scenario, State, Streams

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Outcome of a path that was cut at `most_turns`.
TURN_LIMIT = "turn-limit"

_TOLERANCE = 1e-9  # rounding of a sum of probabilities


@dataclass(frozen=True, slots=True)
class Response:
    """A possible answer of the system with its probability in (0, 1]. `label` is the label that the user sees."""

    probability: float
    answer: Answer
    label: str | None = None


# The system's possible answers to the words, after the exchanges of this session; probabilities sum to 1.
Responses = Callable[[tuple[Exchange, ...], str], Sequence[Response]]


@dataclass(frozen=True, slots=True)
class ExactPath:
    """A possible conversation. `exchanges` are the user's turns with their answers. `labels` are from the user's
    routes, or else from the responses. `outcome` and `reason` say how the conversation ended."""

    turns: tuple[Say, ...]
    exchanges: tuple[Exchange, ...]
    labels: tuple[str | None, ...]
    outcome: str
    reason: str
    probability: float


@dataclass(frozen=True, eq=False)
class ExactTree:
    """A tree of N nodes, in which user and system turns alternate below the root.

    Node 0 is the root, and parents precede their children.

    - `parent`: array (N,) of the parents' indices. The root has -1.
    - `probability`: array (N,) of each node's probability given its parent. The root has 1. The children of a node
      sum to 1 minus the probability of stopping there.
    - `paths`: all paths from the root to a stop, with probabilities that sum to 1. Paths that stop at the same node
      for different reasons are separate.
    - `ends`: the node of the last turn of each path.
    """

    parent: npt.NDArray[np.int32]
    probability: npt.NDArray[np.float64]
    paths: tuple[ExactPath, ...]
    ends: npt.NDArray[np.int32]

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """The probabilities of the paths, as an array (paths,)."""
        import numpy as np

        return np.array([path.probability for path in self.paths])


@dataclass(slots=True)
class _OpenNode:
    node: int
    state: State
    seen: Observation | None
    turns: tuple[Say, ...]
    exchanges: tuple[Exchange, ...]
    labels: tuple[str | None, ...]
    probability: float
    begun: int = 0  # exchanges of earlier sessions


def expand(
    user: EnumerableUser,
    scenario: Scenario,
    responses: Responses,
    *,
    rng: Streams | None = None,
    most_turns: int = 100,
    most_nodes: int = 200_000,
) -> ExactTree:
    """Return the tree of `user` and the system described by `responses`.

    `rng` is for the user's start. A user that draws at its start (a recording, a wording) is enumerated given that
    draw. Conversations are cut after `most_turns` user turns with the outcome `turn-limit`. Recorded trials are
    comparable only if they are cut after the same number of turns. Raises ValueError for probabilities that do not
    sum to 1, and for a tree of more than `most_nodes` nodes.
    """
    import numpy as np

    parent, probability = [-1], [1.0]
    paths: list[ExactPath] = []
    ends: list[int] = []
    state = user.start(scenario, (rng or Streams(0)).at(0))
    waiting = [_OpenNode(0, state, None, (), (), (), 1.0)]

    def add_node(above: int, chance: float) -> int:
        if len(parent) >= most_nodes:
            raise ValueError(f"the tree has more than {most_nodes} nodes: limit its turns or its wordings")
        parent.append(above)
        probability.append(chance)
        return len(parent) - 1

    while waiting:
        here = waiting.pop()
        chances = user.distribution(here.state, here.seen)
        _check([chance.probability for chance in chances], f"of the user {user.name!r}")
        for chance in chances:
            action, reached = chance.action, here.probability * chance.probability
            labels = here.labels
            if action.route is not None and labels:
                labels = (*labels[:-1], action.route.label)
            if not isinstance(action, Say) or len(here.turns) == most_turns:
                outcome, reason = (TURN_LIMIT, "") if isinstance(action, Say) else (action.outcome, action.reason)
                paths.append(ExactPath(here.turns, here.exchanges, labels, outcome, reason, reached))
                ends.append(here.node)
                continue
            said = add_node(here.node, chance.probability)
            begun = len(here.exchanges) if action.new_session else here.begun
            answers = responses(here.exchanges[begun:], action.text)
            _check([answer.probability for answer in answers], f"of the answers to {action.text!r}")
            waiting.extend(
                _OpenNode(
                    add_node(said, one.probability),
                    chance.state,
                    Observation(one.answer, one.label),
                    (*here.turns, action),
                    (*here.exchanges, Exchange(action.text, one.answer)),
                    (*labels, one.label),
                    reached * one.probability,
                    begun,
                )
                for one in answers
            )
    return ExactTree(
        np.array(parent, dtype=np.int32), np.array(probability), tuple(paths), np.array(ends, dtype=np.int32)
    )


def _check(found: Sequence[float], whose: str) -> None:
    if not found or min(found) <= 0 or abs(math.fsum(found) - 1) > _TOLERANCE:
        raise ValueError(f"the probabilities {whose} sum to {math.fsum(found):g}; they must be above 0 and sum to 1")
