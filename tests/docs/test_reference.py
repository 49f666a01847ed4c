"""Every public name has a docstring and stands in the reference, and the examples of docstrings run."""

import dataclasses
import doctest
import importlib
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference"
LISTED = re.findall(r"^::: (\S+)$", "\n".join(page.read_text() for page in REFERENCE.glob("*.md")), re.MULTILINE)
DOORS = ("incenter", "incenter.methods", "incenter.torch", "incenter.jax", "incenter.pinn")
PUBLIC = [f"{door}.{name}" for door in DOORS for name in importlib.import_module(door).__all__]
MODULES = {
    str(path.relative_to(ROOT / "src").with_suffix("")).replace("/", ".").removesuffix(".__init__")
    for path in (ROOT / "src/incenter").rglob("*.py")
    if ">>> " in path.read_text()
}


def object_of(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def has_docstring(name: str, thing: Any) -> bool:
    """A docstring of its own, and not the one that Python makes up for a dataclass or a named tuple."""
    text = inspect.getdoc(thing) or ""
    return bool(text) and not text.startswith((f"{name}(", "Alias for field"))


def documented(owner: type, member: str) -> bool:
    """A member of a class may leave it to the class above it to say what it does, if only as a field."""
    above = [base for base in owner.__mro__ if member in vars(base)]
    declared = any(member in vars(base).get("__annotations__", {}) for base in owner.__mro__[1:])
    return declared or any(has_docstring(member, vars(base)[member]) for base in above)


def members(owner: type) -> list[str]:
    kinds, fields = (property, staticmethod, classmethod), vars(owner).get("__annotations__", {})
    return [
        name
        for name, value in vars(owner).items()
        if not name.startswith("_") and name not in fields and (inspect.isfunction(value) or isinstance(value, kinds))
    ]


def test_every_public_name_is_in_the_reference() -> None:
    modules = {name for name in PUBLIC if inspect.ismodule(object_of(name))}
    assert set(PUBLIC) - modules - set(LISTED) == set()
    assert len(LISTED) == len(set(LISTED))


def test_every_rule_is_in_the_reference() -> None:
    methods = importlib.import_module("incenter.methods")
    rules = [type(methods.by_name(name)) for name in methods.names()]
    assert {f"{rule.__module__}.{rule.__name__}" for rule in rules} <= set(LISTED)


# jinns and DeepXDE warn of their own affairs when they are imported.
@pytest.mark.parametrize("name", sorted(set(LISTED)))
def test_what_is_listed_exists_and_is_documented(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thing = object_of(name)
    assert has_docstring(name.rpartition(".")[2], thing)
    if inspect.isclass(thing):
        assert [member for member in members(thing) if not documented(thing, member)] == []


def test_every_field_of_a_rule_has_its_meaning() -> None:
    methods = importlib.import_module("incenter.methods")
    for name in methods.names():
        rule = type(methods.by_name(name))
        for field in dataclasses.fields(rule):
            assert re.search(rf"^    {field.name}$", inspect.getsource(rule), re.MULTILINE), (name, field.name)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_examples_of_docstrings_run(module: str) -> None:
    tried = doctest.testmod(importlib.import_module(module))
    assert tried.attempted > 0
    assert tried.failed == 0


def test_the_doors_that_people_use_have_examples() -> None:
    wanted = ("incenter.chebyshev_center", "incenter.certify", "incenter.methods.by_name", "incenter.torch.backward")
    for name in (*wanted, "incenter.pinn.train", "incenter.pinn.load"):
        assert ">>> " in (inspect.getdoc(object_of(name)) or ""), name
    assert ">>> " in (importlib.import_module("incenter.jax").__doc__ or "")
