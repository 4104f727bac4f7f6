"""fairseq: its last release does not import on Python 3.11; the attempt is made, so that the reason is shown."""

import fairseq

raise SystemExit(f"fairseq {fairseq.__version__} imports here after all: write its contender")
