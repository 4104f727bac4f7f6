"""Put a trained model into the package, src/clearformer/models, in half of its size.

    python tools/ship_model.py runs/bccd bccd
    python tools/ship_model.py runs/zh-joint en-zh --languages en zh   for one direction of several

The weights become float16, or, where the score holds, eight bits in the layers (--dtype int8). What the folder says of
itself (recipe, seed, data, licence, attribution) has to be complete, because it is all that somebody who gets the
package can know of the model.
"""

import argparse
import shutil
from dataclasses import replace
from pathlib import Path

from clearformer.folder import bundle
from clearformer.folder.description import find_model

MODELS = Path(__file__).parent.parent / "src" / "clearformer" / "models"
NEEDED = ("recipe", "seed", "data", "licence", "attribution")
MOST_BYTES = 60_000_000  # of all together


def main() -> None:
    """Check, write, and say how large all of them are."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", help="a run's folder, or a model folder")
    parser.add_argument("name", help="its name in the package")
    parser.add_argument("--languages", nargs=2, metavar=("FROM", "TO"), help="the direction that it is shipped for")
    parser.add_argument("--dtype", choices=("float16", "int8"), default="float16", help="of the layers' weights")
    given = parser.parse_args()
    made = bundle.load(find_model(given.run))
    if given.languages:
        source, target = given.languages
        own = {"source_language": source, "target_language": target, "tokenise": None}
        made = replace(made, provenance={**made.provenance, **own})
    missing = [name for name in NEEDED if made.provenance.get(name) in (None, "")]
    if missing:
        parser.error(f"{given.run} does not say its {', '.join(missing)}; give it in the recipe")
    shutil.rmtree(MODELS / given.name, ignore_errors=True)
    bundle.save(made, MODELS / given.name, dtype=given.dtype)
    sizes = {
        path.name: sum(file.stat().st_size for file in path.iterdir()) for path in MODELS.iterdir() if path.is_dir()
    }
    for name, size in sorted(sizes.items()):
        print(f"{name:12} {size / 1e6:6.2f} MB")
    if sum(sizes.values()) > MOST_BYTES:
        parser.error(f"together {sum(sizes.values()) / 1e6:.1f} MB, which is more than {MOST_BYTES / 1e6:g}")


if __name__ == "__main__":
    main()
