"""Tests of an adapter are there where its library is."""

from importlib.util import find_spec

_MODULES = ("torchjd", "deepxde", "jinns", "lightning")
collect_ignore = [f"test_{module}.py" for module in _MODULES if find_spec(module) is None]
