"""What is said when an extra is not installed."""

import importlib.util

from incenter.geometry.errors import IncenterError


def require_matplotlib() -> None:
    """One sentence with the pip line where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise IncenterError("Pictures need matplotlib, which is not installed: pip install 'incenter[study]'")
