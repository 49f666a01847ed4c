"""Wrong use gets one sentence, with the value seen."""

import numpy as np
import pytest
import torch

from incenter import IncenterError, certify, chebyshev_center
from incenter.geometry.frank_wolfe import frank_wolfe
from incenter.geometry.three_losses import paper_three_losses

G = np.eye(2)


@pytest.mark.parametrize(
    ("gradients", "p", "message"),
    [
        (np.ones(3), 2, r"shape \(3,\)"),
        (np.ones((2, 3, 4)), 2, r"shape \(2, 3, 4\)"),
        (np.ones((3, 0)), 2, r"no parameters: its shape is \(3, 0\)"),
        ([["a", "b"]], 2, "no matrix of numbers"),
        ([[1.0, 2.0], [3.0]], 2, "no matrix of numbers"),
        (np.array([["a", "b"]]), 2, "dtype <U1"),
        (np.array([[1j, 2]]), 2, "dtype complex128"),
        ("gradients", 2, "got str"),
        (None, 2, "got NoneType"),
        (3.0, 2, "got float"),
        (G, 0.5, "p=0.5"),
        (G, -1, "p=-1"),
        (G, float("nan"), "p=nan"),
        (G, "2", "'2'"),
        (G, None, "None"),
        (torch.eye(2).to(torch.complex64), 2, "complex64"),
    ],
)
def test_center_refuses(gradients: object, p: object, message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        chebyshev_center(gradients, p)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "direction", "message"),
    [
        (np.ones(3), np.ones(2), r"`weights` must have shape \(2,\).*\(3,\)"),
        (np.ones(2), np.ones(5), r"`direction` must have shape \(2,\).*\(5,\)"),
        ("w", np.ones(2), "`weights`.*str"),
        (torch.ones(2), np.ones(2), "`weights` must come from the library of G; got Tensor with G a ndarray"),
    ],
)
def test_certify_refuses(weights: object, direction: object, message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        certify(G, weights, direction)


def test_mismatched_devices() -> None:
    with pytest.raises(IncenterError, match="`direction` is on meta and G on cpu"):
        certify(torch.eye(2), torch.ones(2), torch.ones(2, device="meta"))


def test_the_papers_solvers_refuse() -> None:
    with pytest.raises(IncenterError, match="got 2"):
        paper_three_losses(G)
    with pytest.raises(IncenterError, match="p=1"):
        frank_wolfe(G, p=1)
    with pytest.raises(IncenterError, match="2 rows, of which 1 are not"):
        frank_wolfe(np.array([[1.0, 0.0], [0.0, 0.0]]))
