"""Raw evidence on disk, and the safe writing of files in a run folder.

Each exhibit is stored once, under the hash of its content. Its address is the file's path inside the run folder,
`evidence/ab/ab….json`, so a person can open the file and check the content against the name. Pages are compressed
(`….xhtml.gz`), because every turn keeps a page and few pages are ever read; uncompressed pages of older runs can be
read. Exhibits of compacted events are in their segments, unless they were compressed already.

A writer keeps its temporary file locked until it renames the file. So a temporary file that can be locked was left by a
killed writer, on whichever machine or in whichever container, and the next writer removes the file. On a disk without
file locks, all temporary files stay.
"""

import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from recordings.files.digests import read_object
from recordings.files.errors import RunError
from recordings.files.lock import flock
from recordings.files.segments import list_packed, read_packed
from topics.errors import Place
from topics.regular_file import list_entries, read_inside

_EXTENSIONS = {
    "application/gzip": "gz",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/x-ndjson": "jsonl",
    "application/xhtml+xml": "xhtml",
    "application/xml": "xml",
    "application/zip": "zip",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/event-stream": "sse",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/xml": "xml",
}
_COMPRESSED = frozenset({"xhtml"})
_LEAST_COMPRESSED = 1024  # bytes; to compress less is not worth it
_MOST_UNCOMPRESSED = 256 * 1024 * 1024  # bytes that a compressed exhibit may come to


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20, person=b"harvest-evidence").hexdigest()


def _stored_form(data: bytes, media_type: str) -> tuple[bytes, str]:
    kind = media_type.partition(";")[0].strip().lower()
    plain = "json" if kind.endswith("+json") else "txt" if kind.startswith("text/") else "bin"
    extension = _EXTENSIONS.get(kind, plain)
    if extension not in _COMPRESSED or len(data) < _LEAST_COMPRESSED:
        return data, extension
    return gzip.compress(data, mtime=0), f"{extension}.gz"  # without the time: the same page is kept once


def _address(kept: bytes, extension: str) -> str:
    digest = _digest(kept)
    return f"evidence/{digest[:2]}/{digest}.{extension}"


def address_of(data: bytes, media_type: str) -> str:
    """Return the address of `data`, `evidence/<2 hex>/<40 hex>.<extension>`, from its blake2b hash of 20 bytes."""
    return _address(*_stored_form(data, media_type))


def keep_exhibit(run: Path, data: bytes, media_type: str) -> str:
    """Write `data` to the disk, unless it was kept before, and return its address. Raises OSError."""
    kept, extension = _stored_form(data, media_type)
    address = _address(kept, extension)
    if not _is_there(str(run / address), len(kept)):
        _write_stored(run, address, kept)
    return address


def keep_stored(run: Path, address: str, data: bytes) -> None:
    """Write the stored form of an exhibit at its address, unless it is there. Raises ValueError if `address` is not
    that of `data`, and OSError."""
    if _digest(data) != address.rpartition("/")[2].partition(".")[0]:
        raise ValueError(f"the content of {address} does not match its name")
    if not _is_there(str(run / address), len(data)):
        _write_stored(run, address, data)


def _write_stored(run: Path, address: str, data: bytes) -> None:
    path = run / address
    made = [folder for folder in (run / "evidence", path.parent) if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in made:
        fsync_folder(folder.parent)
    write_safely(path, data)


def stored_address(run: Path, data: bytes, media_type: str) -> str | None:
    """Return the address of `data` if it was kept before, else None. This is fast enough for the event loop."""
    kept, extension = _stored_form(data, media_type)
    address = _address(kept, extension)
    return address if _is_there(f"{run}/{address}", len(kept)) else None


def _is_there(path: str, size: int) -> bool:
    try:
        found = os.lstat(path)  # a fraction of the time of Path.lstat, for every turn
    except OSError:  # whatever it is, to write there will tell
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size  # a link would not be read: it is replaced


def list_exhibits(run: Path) -> list[str]:
    """Return the addresses of all exhibits, in an order in which they are read quickly. An exhibit that is not at its
    address is in a segment. Raises OSError if a segment is damaged."""
    files = list_entries(run, "evidence", "??", "*")
    alone = [file.relative_to(run).as_posix() for file in files if not file.name.startswith(".")]
    return list(dict.fromkeys((*alone, *list_packed(run))))


def has_exhibit(run: Path, address: str) -> bool:
    """Return True if there is something at the path of the exhibit, or if the exhibit is in a segment. Raises
    OSError."""
    return os.path.lexists(run / address) or read_packed(run, address) is not None


def read_stored(run: Path, address: str) -> bytes:
    """Return the bytes of an exhibit as they are stored at its address, or as they were stored before compaction.
    Raises OSError."""
    try:
        return read_inside(run, address)
    except FileNotFoundError:
        found = read_packed(run, address)
        if found is None:
            raise
        return found


def named_exhibits(line: bytes) -> list[str]:
    """Return the addresses of the exhibits that a line of events names."""
    row = read_object(line) if b'"evidence"' in line else None
    evidence = row.get("evidence") if row and row.get("event") in ("turn", "failed") else None
    return [address for address in evidence.values() if isinstance(address, str)] if isinstance(evidence, dict) else []


def refuse_links(run: Path) -> None:
    """Raise RunError if a folder of evidence is a link or is not a folder."""
    evidence = inner_folder(run, "evidence", "evidence")
    for entry in sorted(evidence.iterdir()) if evidence.exists() else ():
        if entry.is_symlink():
            inner_folder(run, f"evidence/{entry.name}", "evidence")


def read_exhibit(run: Path, address: str, *, largest: int = _MOST_UNCOMPRESSED) -> bytes:
    """Return the uncompressed exhibit at `address`. Raises ValueError if the exhibit cannot be read or does not match
    its name; the message gives the reason."""
    path = run / address
    try:
        data = read_stored(run, address)
    except OSError as fault:
        raise ValueError(f"cannot be read: {fault.strerror}") from fault
    name, _, extension = path.name.partition(".")
    if _digest(data) != name:
        raise ValueError("its content does not match its name")
    if extension.removesuffix(".gz") not in _COMPRESSED or not extension.endswith(".gz"):
        return data
    unpacking = zlib.decompressobj(wbits=31)  # gzip
    try:
        plain = unpacking.decompress(data, largest)
    except zlib.error as fault:
        raise ValueError(f"cannot be decompressed: {fault}") from fault
    if not unpacking.eof:
        raise ValueError("cannot be decompressed: it is cut off, or too large")
    return plain


def evidence_fault(run: Path, address: str, *, largest: int = _MOST_UNCOMPRESSED) -> str:
    """Return a description of the error in the exhibit at `address`, or "" if its content matches its name."""
    try:
        read_exhibit(run, address, largest=largest)
    except ValueError as fault:
        return str(fault)
    return ""


def write_safely(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write `data` to `path` completely or not at all: fsync a temporary file, rename it, and fsync the folder."""
    temporary = None
    try:
        temporary, file = new_temporary(path)
        with file:
            file.writelines((data,) if isinstance(data, bytes) else data)
            file.flush()
            fsync_file(file.fileno())
            temporary.replace(path)  # before it is closed, and with that unlocked: else it might pass for a leftover
    except BaseException as fault:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(fault, OSError) and fault.filename is not None:
            fault.filename, fault.filename2 = str(path), None  # the temporary name means nothing to users
        raise
    fsync_folder(path.parent)


def fsync_file(descriptor: int) -> None:
    """Wait until the bytes of a file are on the disk itself. On macOS this needs F_FULLFSYNC."""
    import fcntl

    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def fsync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. Otherwise a new file may disappear in a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def inner_folder(run: Path, name: str, holds: str) -> Path:
    """Return the path of the folder `name` in a run; the folder may not exist yet. `holds` names its content in the
    error message. Raises RunError if the path is not a folder or is a link: links in a run are not followed."""
    folder = run / name
    if folder.is_symlink():
        raise RunError(
            f"this is a link, and links in a run are not followed, so no {holds} can be read there",
            place=Place(str(folder)),
            allowed="folders of the run itself; the whole run folder may be a link",
            advice="replace the link with the folder that it points to; to use another disk, move the whole run folder "
            "there and give its new path, or a link to it",
        )
    if os.path.lexists(folder) and not folder.is_dir():
        raise RunError(f"this is not a folder, so no {holds} can be in it", place=Place(str(folder)))
    return folder


_TEMPORARY = re.compile(r"\.(.+)\.[0-9]+-[0-9]+\.tmp")
_temporary_numbers = count(1)


def new_temporary(path: Path, mode: int = 0o666) -> tuple[Path, BinaryIO]:
    """Create a temporary file next to `path` with the permissions `mode`, and return its path and the open file, which
    is locked until it is closed. Raises OSError."""
    while True:
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_temporary_numbers)}.tmp")
        file = os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")
        try:
            with suppress(OSError):  # a disk without locks: nobody will remove it there either
                flock(file.fileno(), patience=1)
            if os.fstat(file.fileno()).st_nlink:
                return temporary, file
        except BaseException:
            file.close()
            temporary.unlink(missing_ok=True)
            raise
        file.close()  # it was removed as a leftover before it was locked


def remove_leftovers(folder: Path, of: str | None = None) -> None:
    """Remove temporary files that killed writers left in `folder`. `of` names the file being written; None removes all
    temporary files. Files that cannot be removed stay: they are never read, and an error would stop useful work."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = _TEMPORARY.fullmatch(entry.name)
            if found and of in (None, found[1]) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_leftover(Path(entry.path))


def _remove_leftover(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # Its writer may have given it its real name since it was found: then this is another file, or none.
        if flock(descriptor) and os.path.samestat(os.fstat(descriptor), path.lstat()):
            path.unlink()
    finally:
        os.close(descriptor)
