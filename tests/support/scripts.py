"""A script beside the package, as a module.

By its path, because the folder of a script must not join `sys.path`: a `benchmarks/studio.py` found there would hide
the folder `tests/studio` from every test after it.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_script(path: str) -> ModuleType:
    """The module that `path`, given from the project's root, makes when it runs."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec, path
    assert spec.loader, path
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
