"""The server that behaves as badly as a test tells it to."""

from support.http_server import serving

__all__ = ["serving"]
