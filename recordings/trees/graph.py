"""Trees as networkx graphs, which can be written as GraphML, drawn, or analysed with networkx.

    graph = as_graph([tree])
    networkx.draw(graph, positions([tree]), labels=networkx.get_node_attributes(graph, "name"))

Only this module imports networkx, on first use.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recordings.trees.node_text import node_title, tree_title, xml_safe
from recordings.trees.tree import ConversationTree

if TYPE_CHECKING:
    import networkx

# Additional figures by name, each (N,): of a node, or of the edge that leads to it. NaN and None are left out.
Columns = Mapping[str, npt.NDArray[Any] | Sequence[object]]


def node_name(tree: int, node: int) -> str:
    """Return the name of a node in files of several trees, such as `t0n4`."""
    return f"t{tree}n{node}"


def as_graph(
    trees: Sequence[ConversationTree], columns: Sequence[Columns] = (), said: Sequence[Sequence[str]] = ()
) -> "networkx.DiGraph":
    """Return one directed graph of all `trees`, with edges from a turn to the turns that came next.

    Nodes have `name`, `speaker`, `key`, `text`, `visits`, `stops`, `endings` (such as `breakdown 17, completed 2`),
    `texts` and `merging`; edges have `visits` and `probability`. `columns` has, for each tree, figures to add to its
    edges. `said` has sentences for each tree. Roots also have a `tree_title`, and their tree's sentences as `caption`.
    """
    import networkx

    graph = networkx.DiGraph()
    for i, tree in enumerate(trees):
        further = columns[i] if columns else {}
        for node in range(len(tree)):
            symbol = tree.symbol_at(node) if node else None
            graph.add_node(
                node_name(i, node),
                name=node_title(tree, node),
                speaker=symbol.speaker if symbol else "",
                key=symbol.key if symbol else "",
                text=symbol.text if symbol else "",
                visits=int(tree.visits[node]),
                stops=int(tree.stops[node]),
                endings=", ".join(
                    f"{kind} {count}" for kind, count in zip(tree.outcomes, tree.endings[node].tolist()) if count
                ),
                texts=int(tree.texts[node]),
                merging=tree.merging(node),
                **({} if node else {"title": tree_title(tree), **({"caption": "; ".join(said[i])} if said else {})}),
            )
            if node:
                parent = int(tree.parent[node])
                values = {name: column[node] for name, column in further.items()}
                known = {
                    name: value.item() if isinstance(value, np.generic) else value
                    for name, value in values.items()
                    if value is not None and not (isinstance(value, float) and isnan(value))
                }
                graph.add_edge(
                    node_name(i, parent),
                    node_name(i, node),
                    visits=int(tree.visits[node]),
                    probability=float(tree.visits[node] / tree.visits[parent]),
                    **known,
                )
    return graph


def graphml(
    trees: Sequence[ConversationTree], columns: Sequence[Columns] = (), said: Sequence[Sequence[str]] = ()
) -> str:
    """Return the graph of `as_graph` as GraphML, with characters that XML cannot represent as their code (<U+0007>)."""
    import networkx

    graph = as_graph(trees, columns, said)
    for _, attributes in graph.nodes(data=True):
        attributes.update({key: xml_safe(item) for key, item in attributes.items() if isinstance(item, str)})
    for _, _, attributes in graph.edges(data=True):
        attributes.update({key: xml_safe(item) for key, item in attributes.items() if isinstance(item, str)})
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(networkx.generate_graphml(graph)) + "\n"


def positions(trees: Sequence[ConversationTree]) -> dict[str, tuple[float, float]]:
    """Return (x, y) for every node of `as_graph`, for `networkx.draw`: leaves in a row, and turns downwards."""
    found: dict[str, tuple[float, float]] = {}
    across = 0.0
    for i, tree in enumerate(trees):
        x = np.zeros(len(tree))
        leaves = tree.branches == 0
        x[leaves] = across + np.arange(int(leaves.sum()))
        for node in range(len(tree) - 1, -1, -1):
            branches = tree.children(node)
            if branches:
                x[node] = (x[branches[0]] + x[branches[-1]]) / 2
        across = float(x.max()) + 2
        found |= {node_name(i, node): (float(x[node]), -float(tree.depth[node])) for node in range(len(tree))}
    return found
