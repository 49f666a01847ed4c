"""The loop and the run, on quadratic losses whose answers are known."""

from typing import Any

import numpy as np
import pytest

from incenter import methods
from incenter.pinn.configuration import Configuration
from incenter.pinn.result import Result
from incenter.pinn.training import run
from tests.pinn.quadratic import Quadratic


def trained(objective: Any = None, **fields: Any) -> Result:
    """A run of quadratic losses; 40 steps in double precision unless said otherwise."""
    given = {"steps": 40, "lr": 1e-2, "precision": 64} | fields
    configuration = Configuration("quadratic", **given)
    return run(configuration.resolved(None), objective or Quadratic(precision=configuration.precision))


@pytest.mark.parametrize("method", methods.names())
def test_every_rule_trains(method: str) -> None:
    """Compiled, every rule of the library moves the parameters and leaves them finite."""
    result = trained(method=method, steps=6)
    assert result.stopped == "steps"
    assert result.steps == 6
    assert np.isfinite(result.theta).all()
    assert not np.array_equal(result.theta, np.asarray(Quadratic().start(0)))
