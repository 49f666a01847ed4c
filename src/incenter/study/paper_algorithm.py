"""The paper's exact dual solver for three losses, its Algorithm 3, as it stands there: here to be measured, not used.

    1  weights on the simplex with K alpha = 0, if there are any            K the cosines of the gradients
    2  alpha = z / (1 . z), z = K^+ 1, if no weight is below -TOLERANCE
    3  else the midpoint of the pair with the least cosine

Step 2 is no optimum where K is nearly of rank 2 and 0 is outside the hull: unit gradients at 0, 30 and 90 degrees give
0.6795 for r* = 0.7071. In single precision the pseudo-inverse takes K for one of rank 2 much sooner. The paper names
neither the two tolerances nor the cutoff of the pseudo-inverse: here they are its stopping threshold, and what PyTorch
does where nothing is said.
"""

from typing import Any

import numpy as np

from incenter.geometry.arrays import Matrix, Weights

TOLERANCE = 1e-6  # the paper's threshold for stopping
_PAIRS = ((0, 1), (0, 2), (1, 2))


def three_losses(units: Matrix) -> Weights:
    """The weights that Algorithm 3 returns for three unit gradients, in the precision that these have."""
    K = units @ units.T
    null = _on_the_null_space(K)
    if null is not None:
        return null
    cutoff = 3 * np.finfo(K.dtype).eps
    z = np.linalg.pinv(K, rcond=cutoff) @ np.ones(3, K.dtype)
    total = z.sum()
    if total > TOLERANCE:
        weights = z / total
        if weights.min() >= -TOLERANCE:
            weights = np.maximum(weights, 0)
            return weights / weights.sum()
    first, second = min(_PAIRS, key=lambda pair: float(K[pair]))
    midpoint = np.zeros(3, K.dtype)
    midpoint[[first, second]] = 0.5
    return midpoint


def _on_the_null_space(K: Any) -> Weights | None:
    vector = np.linalg.eigh(K)[1][:, 0]  # of the least eigenvalue
    total = vector.sum()
    if total == 0:
        return None
    weights = vector / total
    inside = weights.min() >= -TOLERANCE and np.abs(K @ weights).max() <= TOLERANCE
    return np.maximum(weights, 0) / np.maximum(weights, 0).sum() if inside else None
