"""Files that a user sends with a turn, such as a picture that a question is about.

A file is identified by its bytes: a topic whose file has changed is another topic. It has to be in the folder of the
topic file, or below, so that a topic file from elsewhere can send nothing else of this machine.
"""

import hashlib
import mimetypes
from dataclasses import dataclass, field
from pathlib import Path

from topics.errors import InputError

# The largest doors take 20 MB in a request, and base64 makes a file a third longer.
MOST_BYTES = 15 * 2**20

# Not all versions of Python know these, and tables of the machine must not decide what is sent.
_TYPES = mimetypes.MimeTypes(filenames=())
for _type, _ending in (
    ("image/webp", ".webp"),
    ("text/markdown", ".md"),
    ("image/heic", ".heic"),
    ("audio/wav", ".wav"),
):
    _TYPES.add_type(_type, _ending)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that goes with a user turn. `type` is its media type, `size` is in bytes, and `sha256` the digest of its
    bytes. `path` is the path to read it from, or "" in a recording."""

    name: str
    type: str
    size: int
    sha256: str
    path: str = field(default="", compare=False, repr=False)

    def read(self) -> bytes:
        """Return the bytes. Raises InputError if the file is not there, or has changed since the topics were read."""
        try:
            path = Path(self.path)
            data = path.read_bytes() if self.path and path.stat().st_size == self.size else b""
        except OSError as error:
            raise InputError(f"the file {self.name} cannot be read: {error.strerror}") from None
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise InputError(f"the file {self.name} has changed since the topics were read")
        return data


def file_row(file: SentFile) -> dict[str, str | int]:
    """Return the file without its bytes and its place, as recorded."""
    return {"name": file.name, "type": file.type, "size": file.size, "sha256": file.sha256}


def read_sent_file(folder: Path, written: str, media_type: str = "") -> SentFile:
    """Return the file `written`, a path below `folder`, without its bytes. Its type is by default that of the ending of
    its name. Raises InputError for a file that cannot be sent."""
    try:
        path = (folder / written).resolve()
        inside = path.is_relative_to(folder.resolve()) and not Path(written).is_absolute()
        data = path.read_bytes() if inside and path.is_file() and path.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError) as error:  # ValueError: a NUL
        raise InputError(f"the file {written!r} cannot be read: {error}") from None
    if not inside:
        raise InputError(f"the file {written!r} is outside the folder of the topic file", advice="copy it there")
    if data is None:
        if path.is_file():
            most = f"at most {MOST_BYTES // 2**20} MiB"
            raise InputError(f"the file {written!r} is too large to be sent with a turn", allowed=most)
        raise InputError(f"there is no file {written!r} in the folder of the topic file")
    if not data:
        raise InputError(f"the file {written!r} is empty")
    known = media_type or _TYPES.guess_type(path.name)[0]
    if known is None:
        raise InputError(f"the type of {written!r} is unknown", advice=f"write {{path: {written}, type: image/png}}")
    return SentFile(path.name, known, len(data), hashlib.sha256(data).hexdigest(), str(path))
