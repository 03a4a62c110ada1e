"""Raw evidence on disk: each exhibit once, under the hash of its content.

An address is the file's path inside the run folder, `evidence/ab/ab….json`: a person can open it, and the
content can be checked against its name.
"""

from __future__ import annotations

import hashlib
import os
from itertools import count
from pathlib import Path

from topics.regular_file import read_regular

__all__ = ["address_of", "evidence_fault", "fsync_file", "fsync_folder", "keep_exhibit", "read_exhibit", "write_safely"]

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
_numbers = count(1)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20, person=b"harvest-evidence").hexdigest()


def address_of(data: bytes, media_type: str) -> str:
    """Where `data` is kept: `evidence/<2 hex>/<40 hex>.<extension>`, hash blake2b with 20 bytes."""
    digest = _digest(data)
    kind = media_type.partition(";")[0].strip().lower()
    plain = "json" if kind.endswith("+json") else "txt" if kind.startswith("text/") else "bin"
    extension = _EXTENSIONS.get(kind, plain)
    return f"evidence/{digest[:2]}/{digest}.{extension}"


def keep_exhibit(run: Path, data: bytes, media_type: str) -> str:
    """Make `data` safe on disk and return its address. Raises OSError. Keeping it again writes nothing."""
    address = address_of(data, media_type)
    path = run / address
    if path.exists() and path.stat().st_size == len(data):
        return address
    made = [folder for folder in (run / "evidence", path.parent) if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in made:
        fsync_folder(folder.parent)
    write_safely(path, data)
    return address


def read_exhibit(run: Path, address: str) -> bytes:
    """The exhibit at `address`. Raises ValueError, with what is wrong with it, if its content is not what its name
    says or it cannot be read."""
    path = run / address
    try:
        data = read_regular(path)
    except OSError as fault:
        raise ValueError(f"cannot be read: {fault.strerror}") from fault
    if _digest(data) != path.name.partition(".")[0]:
        raise ValueError("its content is not what its name says")
    return data


def evidence_fault(run: Path, address: str) -> str:
    """What is wrong with the exhibit at `address`: "" if its content is what its name says."""
    try:
        read_exhibit(run, address)
    except ValueError as fault:
        return str(fault)
    return ""


def write_safely(path: Path, data: bytes) -> None:
    """Put `data` at `path` whole or not at all: a temporary file beside it, fsync, rename, fsync of the folder."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            fsync_file(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def fsync_file(descriptor: int) -> None:
    """Wait until a file's bytes are on the disk itself (macOS needs F_FULLFSYNC for that)."""
    import fcntl

    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder safe: without it a new file may be gone after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
