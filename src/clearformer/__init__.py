"""Clearformer: the whole Transformer in one small package."""

__version__ = "0.1.0"
