"""Claims about the Transformer as experiments: what is said, what is measured, and whether it holds.

One file per claim in `experiments/`; any of them can be deleted together with its line in `catalogue.py`.
"""
