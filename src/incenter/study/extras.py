"""What is said when an extra is not installed."""

import importlib.util

from incenter.geometry.errors import IncenterError


def require_matplotlib() -> None:
    """One sentence with the pip line where matplotlib is missing."""
    _require("matplotlib", "Pictures need")


def require_jinja() -> None:
    """One sentence with the pip line where Jinja is missing."""
    _require("jinja2", "A report needs")


def _require(module: str, who: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise IncenterError(f"{who} {module}, which is not installed: pip install 'incenter[study]'")
