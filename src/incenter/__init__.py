"""The update direction deepest inside the cone of common descent."""

from incenter import methods
from incenter.geometry.center import ChebyshevCenter, chebyshev_center
from incenter.geometry.certificate import Certificate, certify
from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status

__all__ = ["Certificate", "ChebyshevCenter", "IncenterError", "Status", "certify", "chebyshev_center", "methods"]
