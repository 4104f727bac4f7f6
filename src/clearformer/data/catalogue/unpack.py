"""Take chosen files out of a tar archive that a stranger made."""

import tarfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath


class UnpackError(Exception):
    """An archive was refused; the message is one sentence that names the archive and the member."""


def unpack_tar(archive: Path, folder: Path, *, members: Collection[str], max_bytes: int) -> None:
    """Extract `members` below `folder`, refusing what is no plain file and too much of anything.

    Every member passes the library's filter for data (no links or devices, no path that leads out of the folder), also
    those that are not asked for: an archive with one hostile path is not to be trusted.
    """
    wanted = set(members)
    room = max_bytes
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                _check(archive, member, folder)
                name = str(PurePosixPath(member.name))
                if name not in wanted:
                    continue
                if not member.isreg():
                    raise UnpackError(f"{archive}: {member.name} is not a plain file, so the archive is refused")
                room -= member.size
                if room < 0:
                    raise UnpackError(f"{archive} unpacks to more than {max_bytes:,} bytes: raise max_bytes if it may")
                tar.extract(member, folder, filter="data")
                wanted.discard(name)
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise UnpackError(f"{archive} cannot be unpacked ({problem}): delete it and fetch it again") from problem
    if wanted:
        raise UnpackError(f"{archive} does not contain {sorted(wanted)[0]}: it is another archive than was expected")


def _check(archive: Path, member: tarfile.TarInfo, folder: Path) -> None:
    if PurePosixPath(member.name).is_absolute():  # the filter would take the slash off and go on
        raise UnpackError(f"{archive}: {member.name} leads out of the folder, so the archive is refused")
    try:
        tarfile.data_filter(member, str(folder))
    except tarfile.OutsideDestinationError:
        raise UnpackError(f"{archive}: {member.name} leads out of the folder, so the archive is refused") from None
    except tarfile.FilterError as error:
        raise UnpackError(
            f"{archive}: {member.name} is not a plain file ({error}), so the archive is refused"
        ) from None
