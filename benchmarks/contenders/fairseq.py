"""fairseq: its last release does not import on Python 3.11; it is tried anyway, so that the reason is shown."""

import fairseq

raise SystemExit(f"fairseq {fairseq.__version__} imports here after all: write its contender")
