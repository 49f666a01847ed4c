"""The floor: the matrix products of the hidden layers on the streams that the problem needs, and nothing else.

    S W  forward,   D W^T and S^T D  backward,     S, D (rows, 50),  W (50, 50)

once per hidden layer behind the first. The rows are, point by point, the streams that must be carried through a layer:
the value, the first derivatives, and one for the second-order operator. By NumPy's BLAS or XLA, whichever is faster.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.step_contenders.protocol import Contender, faster
from benchmarks.step_contenders.with_jax import wait_for
from benchmarks.step_problems import WIDTH, Branch, Statement, Term, asked, statement

Product = Callable[[], object]


def streams(stated: Statement, term: Term, branch: Branch) -> int:
    """How many rows one point of the term needs in this branch; 0 if its equations do not look at it."""
    own = {name for name in asked(stated, term)[0] if name.split("_")[0] in branch.outputs}
    along = [name.split("_")[1] for name in own if "_" in name]
    axes = {axis for one in along for axis in one}
    # u_xx + u_yy is one stream, but tanh bends it by u_x and u_y, which must be there for it.
    return (1 + len(axes) + any(len(one) == 2 for one in along)) if own else 0


def rows(stated: Statement, branch: Branch) -> int:
    return sum(term.count * streams(stated, term, branch) for term in stated.terms.values())


class Products:
    """All products of one training step."""

    def __init__(self, problem: str, product: Callable[[int], Product]) -> None:
        stated = statement(problem)
        sizes = [(rows(stated, branch), branch.depth - 1) for branch in stated.branches]
        # The layers of a branch share their matrices, so that these stay in the cache as they would in small chunks.
        self._calls = [call for count, layers in sizes for call in [product(count)] * layers]
        self.setting = f"{' + '.join(f'{layers} x {count:,}' for count, layers in sizes)} rows, "

    def prepare(self, steps: int) -> None: ...

    def run(self, steps: int) -> None:
        for _ in range(steps):
            for call in self._calls:
                call()

    def losses(self) -> dict[str, float]:
        return {}


def _matrices(count: int) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    random = np.random.default_rng(0)
    return [random.standard_normal((size, WIDTH), dtype=np.float32) for size in (count, count, WIDTH)]


def blas(count: int) -> Product:
    S, D, W = _matrices(count)
    forward, backward, weights = np.empty_like(S), np.empty_like(D), np.empty_like(W)

    def call() -> None:
        np.matmul(S, W, out=forward)
        np.matmul(D, W.T, out=backward)
        np.matmul(S.T, D, out=weights)

    return call


def xla(count: int) -> Product:
    matrices = [jnp.asarray(matrix) for matrix in _matrices(count)]
    products = jax.jit(lambda S, D, W: (S @ W, D @ W.T, S.T @ D))
    return lambda: wait_for(products(*matrices))


def build(problem: str, _variant: str) -> Contender:
    return faster({"NumPy": partial(Products, problem, blas), "XLA": partial(Products, problem, xla)})
