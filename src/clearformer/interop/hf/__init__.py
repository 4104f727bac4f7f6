"""Hugging Face's folders: one file per family, with its configuration and its names in both directions."""
