"""The size of an installed package with all its dependencies, each counted once, in packages and bytes.

`python footprint.py NAME` runs in the environment that is measured, so it imports nothing of ours.
"""

import json
import re
import sys
from importlib import metadata

from packaging.requirements import InvalidRequirement, Requirement


def footprint(name: str) -> dict[str, object]:
    """Packages and bytes of a distribution and its dependencies; those not installed are named."""
    waiting, found, missing = [Requirement(name)], {}, set()
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        need = waiting.pop()
        key = (canonical(need.name), frozenset(need.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            package = metadata.distribution(need.name)
        except metadata.PackageNotFoundError:
            missing.add(key[0])
            continue
        found[key[0]] = package
        for text in package.requires or []:
            try:
                asked = Requirement(text)
            except InvalidRequirement:  # old packages name requirements that no longer parse
                missing.add(text)
                continue
            if _applies(asked, need.extras):
                waiting.append(asked)
    sizes = {name: _bytes(package) for name, package in found.items()}
    return {
        "version": metadata.version(name),
        "packages": len(found),
        "bytes": sum(sizes.values()),
        "own_bytes": sizes[canonical(name)],
        "not_installed": sorted(missing),
    }


def canonical(name: str) -> str:
    """One spelling of a name: OpenNMT_py, opennmt-py."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _applies(need: Requirement, extras: set[str]) -> bool:
    marker = need.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _bytes(package: metadata.Distribution) -> int:
    """The files that it installed; a package used from its source folder counts what would be installed."""
    if _editable(package):
        import importlib.util
        from pathlib import Path

        module = importlib.util.find_spec(package.name)
        folders = module.submodule_search_locations if module else None
        files = [path for folder in folders or () for path in Path(folder).rglob("*") if path.suffix != ".pyc"]
        return sum(path.stat().st_size for path in files if path.is_file())
    return sum(file.size or 0 for file in package.files or [])


def _editable(package: metadata.Distribution) -> bool:
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(footprint(sys.argv[1])) + "\n")
