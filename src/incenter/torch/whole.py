"""Per-loss gradients of parameters that each process holds whole: one process, or DistributedDataParallel.

They come from `torch.autograd.grad`, which leaves `.grad` and the hooks on it alone: neither DDP's reduction nor an
optimiser that steps inside the backward pass ever sees the gradient of a single loss. With several processes each
loss's gradient is averaged here, before anything is made of it.
"""

from collections.abc import Sequence

import torch
import torch.distributed as dist

from incenter.geometry.errors import IncenterError
from incenter.torch.averaging import Average, several_processes
from incenter.torch.graph import read_graph
from incenter.torch.products import Row, add_to_grad, gram

_DONATED = (
    "A compiled model gave its buffers away to its first backward pass, but several losses need them; set "
    "torch._functorch.config.donated_buffer = False before the first call of the model."
)


class WholeGradients:
    """The gradients of one step by `params`; `heads` are all other leaves of the graph."""

    def __init__(
        self, losses: list[torch.Tensor], params: list[torch.Tensor], group: dist.ProcessGroup | None, *, keep: bool
    ) -> None:
        graph = read_graph(losses)
        leaves, chosen = {id(leaf) for leaf in graph.leaves}, {id(parameter) for parameter in params}
        self.losses, self.params = losses, params
        self.group = several_processes(group)
        # with several processes all of them, because the others' losses may use what ours do not
        self.used = [parameter for parameter in params if self.group or id(parameter) in leaves]
        self.heads = [leaf for leaf in graph.leaves if id(leaf) not in chosen]
        self.passes = 0
        self._keep = keep
        self._shared = graph.shared

    def local_row(self, index: int) -> Row:
        """One loss's gradient on this process alone; the heads get theirs on the way, the graph is freed."""
        keep = self._keep or self._shared[index]
        found = self._grad([self.losses[index]], [*self.params, *self.heads], keep=keep)
        self._add_to_heads(found[len(self.params) :])
        return found[: len(self.params)]

    def average(self, row: Row) -> Average:
        return Average(row, self.params, self.group)

    def gram(self, rows: list[Row]) -> torch.Tensor:
        return gram(rows, self.params[0].device)

    def part(self, index: int, inputs: list[torch.Tensor]) -> Row:
        """One loss's gradient by some of the parameters; the graph stays."""
        return Average(self._grad([self.losses[index]], inputs, keep=True), inputs, self.group).row()

    def add_weighted(self, weights: Sequence[float]) -> None:
        """Adds the gradient of the weighted sum to `.grad` in one pass; the plain sum to the heads', in another."""
        if self.heads:
            self._add_to_heads(self._grad(self.losses, self.heads, keep=True))
        some = [(loss, weight) for loss, weight in zip(self.losses, weights, strict=True) if weight != 0]
        losses, factors = [loss for loss, _ in some], [weight for _, weight in some]
        row: Row = self._grad(losses, self.used, factors, keep=self._keep) if some else [None] * len(self.used)
        row = Average(row, self.used, self.group).row()
        for index, parameter in enumerate(self.used):
            gradient, row[index] = row[index], None
            add_to_grad(parameter, torch.zeros_like(parameter) if gradient is None else gradient.clone())

    def _grad(
        self, losses: list[torch.Tensor], inputs: list[torch.Tensor], weights: Sequence[float] = (), *, keep: bool
    ) -> Row:
        self.passes += 1
        weights = weights or [1.0] * len(losses)
        factors = [torch.full_like(loss, weight) for loss, weight in zip(losses, weights, strict=True)]
        try:
            found = torch.autograd.grad(losses, inputs, factors, retain_graph=keep, allow_unused=True)
        except RuntimeError as error:
            if "donated" in str(error):
                raise IncenterError(_DONATED) from error
            raise
        for gradient in found:
            if gradient is not None and gradient.layout is not torch.strided:
                raise IncenterError(f"A gradient is {gradient.layout}; build the embedding with sparse=False.")
        return list(found)

    def _add_to_heads(self, gradients: Row) -> None:
        """Parameters are averaged like the others; other leaves, such as points of a PDE, are each process's own."""
        own = [self.group is None or not isinstance(head, torch.nn.Parameter) for head in self.heads]
        for group, kept in ((None, True), (self.group, False)):
            pairs = [
                (head, gradient)
                for head, gradient, mine in zip(self.heads, gradients, own, strict=True)
                if mine is kept and gradient is not None
            ]
            if pairs:
                row = Average([gradient for _, gradient in pairs], [head for head, _ in pairs], group).row()
                for (head, _), gradient in zip(pairs, row, strict=True):
                    if gradient is not None:
                        add_to_grad(head, gradient.clone())
