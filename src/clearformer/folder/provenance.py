"""A fact that a model folder learns about itself after it was written; its weights stay what they are."""

import json
import shutil
from pathlib import Path
from typing import Any

from clearformer.folder.description import CONFIG, ModelFolder
from clearformer.foundation import storage


def remember(folder: Path, name: str, fact: Any) -> None:
    """Write a fact into the provenance of a folder, which is replaced as a whole: it is never half the old one."""
    ModelFolder(folder).verify()
    with storage.new_folder(folder) as aside:
        for file in folder.iterdir():
            if file.name not in (CONFIG, storage.MANIFEST):
                shutil.copy2(file, aside / file.name)
        described = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        described["provenance"] = {**described.get("provenance", {}), name: fact}
        storage.write_json(aside / CONFIG, described)
