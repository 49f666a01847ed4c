"""Physics-informed networks that read like their PDEs: domains, fields, networks, problems, training, checkpoints."""

# ruff: noqa: E402  (the environment is settled before anything imports JAX)
import importlib.util
import os

from incenter.geometry.errors import IncenterError

# XLA sizes its pool of threads by this when JAX is first imported; on one thread the bits of a run are its own.
os.environ.setdefault("NPROC", "1")

_MISSING = [name for name in ("jax", "equinox", "optax") if importlib.util.find_spec(name) is None]
if _MISSING:
    raise IncenterError(f"incenter.pinn needs {', '.join(_MISSING)}, not installed here: pip install 'incenter[pinn]'")

from incenter.pinn.adaptive import Adaptive
from incenter.pinn.assembly import Objective
from incenter.pinn.domain import Box, Disc, Domain
from incenter.pinn.networks import MLP, Branches, Fourier, ModifiedMLP, Transformed
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.reference import Reference
from incenter.pinn.samplers import Sample, fixed, sobol, uniform
from incenter.pinn.terms import Boundary, Data, Initial, Interior, Periodic

__all__ = [
    "MLP",
    "Adaptive",
    "Boundary",
    "Box",
    "Branches",
    "Data",
    "Disc",
    "Domain",
    "Fourier",
    "Initial",
    "Interior",
    "ModifiedMLP",
    "Objective",
    "Periodic",
    "Problem",
    "Reference",
    "Sample",
    "Settings",
    "Transformed",
    "fixed",
    "sobol",
    "uniform",
]
