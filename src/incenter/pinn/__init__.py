"""Physics-informed networks that read like their PDEs: domains, fields, networks, problems, training, checkpoints."""

import os

# XLA sizes its pool of threads by this when JAX is first imported; a run is on one thread, so that its bits are its own.
os.environ.setdefault("NPROC", "1")

from incenter.pinn.domain import Box, Disc, Domain
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.reference import Reference
from incenter.pinn.samplers import Sample, uniform
from incenter.pinn.terms import Boundary, Initial, Interior
