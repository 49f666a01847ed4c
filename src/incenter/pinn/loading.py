"""Things named in text: `NAME` from a registry, or `FILE.py:NAME` from a file of the user's."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.pinn.configuration import unknown

_SEPARATOR = ".py:"


def in_file(name: Any) -> bool:
    """Whether `name` is of the form FILE.py:NAME."""
    return isinstance(name, str) and _SEPARATOR in name


def file_of(name: str) -> Path:
    """The FILE.py of FILE.py:NAME."""
    return Path(name.rpartition(_SEPARATOR)[0] + ".py").expanduser()


def from_file(name: str) -> Any:
    """What FILE.py calls NAME; the file is run, once for each of its contents."""
    path, attribute = file_of(name), name.rpartition(_SEPARATOR)[2]
    if not path.is_file():
        raise IncenterError(f"There is no file {path}: in FILE.py:NAME the file must exist; got {name!r}.")
    module = _run(path)
    if not hasattr(module, attribute):
        public = [each for each in vars(module) if not each.startswith("_")]
        raise IncenterError(unknown(f"name in {path}", attribute, public))
    return getattr(module, attribute)


def _run(path: Path) -> ModuleType:
    content = str(path.resolve()).encode() + b"\0" + path.read_bytes()
    name = f"incenter_user_{path.stem}_{hashlib.sha256(content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise IncenterError(f"{path} cannot be read as Python; give a file whose name ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except IncenterError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        why = str(error).splitlines()[0].rstrip(".") if str(error) else "no reason given"
        raise IncenterError(
            f"{path} stops with {type(error).__name__} ({why}); mend the file and try again."
        ) from error
    return module
