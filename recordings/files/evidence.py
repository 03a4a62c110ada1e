"""Raw evidence on disk: each exhibit once, under the hash of its content.

An address is the file's path inside the run folder, `evidence/ab/ab….json`: a person can open it, and the content can
be checked against its name. Pages are compressed (`….xhtml.gz`), because every turn keeps one and few are ever read;
uncompressed pages of older runs can be read as well.
"""

import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path

from recordings.files.inner_folder import inner_folder
from recordings.files.leftovers import new_temporary
from topics.regular_file import read_inside

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
_SMALL = 1024  # bytes; to compress less is not worth it
_LARGEST = 256 * 1024 * 1024  # bytes that a compressed exhibit may come to


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20, person=b"harvest-evidence").hexdigest()


def _kept_as(data: bytes, media_type: str) -> tuple[bytes, str]:
    kind = media_type.partition(";")[0].strip().lower()
    plain = "json" if kind.endswith("+json") else "txt" if kind.startswith("text/") else "bin"
    extension = _EXTENSIONS.get(kind, plain)
    if extension not in _COMPRESSED or len(data) < _SMALL:
        return data, extension
    return gzip.compress(data, mtime=0), f"{extension}.gz"  # without the time: the same page is kept once


def _address(kept: bytes, extension: str) -> str:
    digest = _digest(kept)
    return f"evidence/{digest[:2]}/{digest}.{extension}"


def address_of(data: bytes, media_type: str) -> str:
    """Return the address of `data`, `evidence/<2 hex>/<40 hex>.<extension>`: the file's blake2b hash with 20 bytes."""
    return _address(*_kept_as(data, media_type))


def keep_exhibit(run: Path, data: bytes, media_type: str) -> str:
    """Make `data` safe on disk and return its address. Raises OSError. Keeping it again writes nothing."""
    kept, extension = _kept_as(data, media_type)
    address = _address(kept, extension)
    path = run / address
    if _is_there(str(path), len(kept)):
        return address
    made = [folder for folder in (run / "evidence", path.parent) if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in made:
        fsync_folder(folder.parent)
    write_safely(path, kept)
    return address


def kept_before(run: Path, data: bytes, media_type: str) -> str | None:
    """Return the address of `data` if it was kept before, else None. Too fast to need a thread."""
    kept, extension = _kept_as(data, media_type)
    address = _address(kept, extension)
    return address if _is_there(f"{run}/{address}", len(kept)) else None


def _is_there(path: str, size: int) -> bool:
    try:
        found = os.lstat(path)  # a fraction of the time of Path.lstat, for every turn
    except OSError:  # whatever it is, to write there will tell
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size  # a link would not be read: it is replaced


def refuse_links(run: Path) -> None:
    """Raise RunError if a folder of evidence is a link, or not a folder."""
    evidence = inner_folder(run, "evidence", "evidence")
    for entry in sorted(evidence.iterdir()) if evidence.exists() else ():
        if entry.is_symlink():
            inner_folder(run, f"evidence/{entry.name}", "evidence")


def read_exhibit(run: Path, address: str, *, largest: int = _LARGEST) -> bytes:
    """Return the uncompressed exhibit at `address`. Raises ValueError, with the reason, if it cannot be read or its
    content does not match its name."""
    path = run / address
    try:
        data = read_inside(run, address)
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


def evidence_fault(run: Path, address: str, *, largest: int = _LARGEST) -> str:
    """Return the error in the exhibit at `address`; "" if its content matches its name."""
    try:
        read_exhibit(run, address, largest=largest)
    except ValueError as fault:
        return str(fault)
    return ""


def write_safely(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write `data` to `path` completely or not at all: to a temporary file, fsync, rename, fsync of the folder."""
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
    """Wait until a file's bytes are on the disk itself (macOS needs F_FULLFSYNC for that)."""
    import fcntl

    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder safe: without this a new file may be gone after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
