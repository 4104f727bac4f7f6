"""`python -m clearformer`, also under torchrun."""

import sys

from clearformer.cli.main import main

sys.exit(main())
