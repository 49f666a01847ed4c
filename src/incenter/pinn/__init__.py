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
from incenter.pinn.configuration import Configuration
from incenter.pinn.domain import Box, Disc, Domain
from incenter.pinn.history import History
from incenter.pinn.lookup import Nearest
from incenter.pinn.networks import MLP, Branches, Fourier, ModifiedMLP, Transformed
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.reference import Reference
from incenter.pinn.result import Progress, Result
from incenter.pinn.samplers import Sample, fixed, sobol, uniform
from incenter.pinn.saved import TrainedField, load
from incenter.pinn.terms import Boundary, Data, Initial, Interior, Periodic
from incenter.pinn.training import train

__all__ = [
    "MLP",
    "Adaptive",
    "Boundary",
    "Box",
    "Branches",
    "Configuration",
    "Data",
    "Disc",
    "Domain",
    "Fourier",
    "History",
    "Initial",
    "Interior",
    "ModifiedMLP",
    "Nearest",
    "Objective",
    "Periodic",
    "Problem",
    "Progress",
    "Reference",
    "Result",
    "Sample",
    "Settings",
    "TrainedField",
    "Transformed",
    "fixed",
    "load",
    "sobol",
    "train",
    "uniform",
]
