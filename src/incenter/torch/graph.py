"""What the autograd graph tells before any gradient is computed: its leaves, and which losses share a part of it."""

from typing import NamedTuple

import torch
from torch.autograd.graph import Node, get_gradient_edge

from incenter.geometry.errors import IncenterError


class Graph(NamedTuple):
    """Leaves are in an order that the graph alone determines, so it is the same in all processes."""

    leaves: list[torch.Tensor]
    shared: list[bool]  # whether a later loss needs a part of the loss's graph, which must then outlive its own pass


def read_graph(losses: list[torch.Tensor]) -> Graph:
    """One walk over the union of the graphs, from the last loss to the first."""
    seen: dict[Node, torch.Tensor] = {}  # and from which loss; holding the nodes keeps their Python faces the same
    leaves: list[torch.Tensor] = []
    shared: list[bool] = []
    for loss in reversed(losses):
        meets = False
        waiting = [get_gradient_edge(loss).node]
        while waiting:
            node = waiting.pop()
            if node in seen:
                meets = meets or (seen[node] is not loss and not _is_leaf(node))
                continue
            seen[node] = loss
            if _is_leaf(node):
                leaves.append(node.variable)  # type: ignore[attr-defined]
            elif node.name() == "CheckpointFunctionBackward":
                raise IncenterError(
                    "A reentrant checkpoint hides its parameters from the graph; call "
                    "torch.utils.checkpoint.checkpoint with use_reentrant=False."
                )
            waiting.extend(following for following, _ in node.next_functions if following is not None)
        shared.append(meets)
    return Graph(leaves, shared[::-1])


def _is_leaf(node: Node) -> bool:
    return hasattr(node, "variable")
