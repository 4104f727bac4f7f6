"""Take chosen files out of a tar archive that a stranger made."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath


class UnpackError(Exception):
    """An archive was refused; the message is one sentence that names the archive and the member."""


def unpack_tar(archive: Path, folder: Path, *, members: Collection[str], max_bytes: int) -> None:
    """Extract `members` below `folder`, refusing links, devices, paths that lead out of it, and too much of anything.

    Every member is judged, also those that are not asked for: an archive with one hostile path is not to be trusted.
    """
    wanted = set(members)
    room = max_bytes
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                target = (folder / path).resolve()
                if not target.is_relative_to(folder.resolve()):
                    raise UnpackError(f"{archive}: {member.name} leads out of the folder, so the archive is refused.")
                if str(path) not in wanted:
                    continue
                content = tar.extractfile(member) if member.isreg() else None
                if content is None:
                    raise UnpackError(f"{archive}: {member.name} is not a plain file, so the archive is refused.")
                room -= member.size
                if room < 0:
                    raise UnpackError(f"{archive} unpacks to more than {max_bytes:,} bytes: raise max_bytes if it may.")
                target.parent.mkdir(parents=True, exist_ok=True)
                with content, target.open("wb") as file:
                    shutil.copyfileobj(content, file, 1 << 20)
                wanted.discard(str(path))
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise UnpackError(f"{archive} cannot be unpacked ({problem}): delete it and fetch it again.") from problem
    if wanted:
        raise UnpackError(f"{archive} does not contain {sorted(wanted)[0]}: it is another archive than was expected.")
