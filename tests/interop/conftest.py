"""The hub and the package index that tests fetch from."""

from support.hub_server import hub
from support.package_index import index

__all__ = ["hub", "index"]
