"""The update direction deepest inside the cone of common descent."""

from incenter import methods
from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status

__all__ = ["IncenterError", "Status", "methods"]
