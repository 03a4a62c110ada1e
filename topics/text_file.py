"""Text files from users. A file must be UTF-8 text of limited size, and is read completely."""

from os import PathLike

from topics.errors import InputError, Place
from topics.regular_file import read_bytes

# In bytes. A larger file is not one of ours, and would fill the memory of the machine.
LARGEST = 16 * 1024 * 1024

# Files that people pass instead of text, by their first bytes.
_BINARY = {
    b"PK\x03\x04": "a ZIP archive (as .zip, .xlsx, .docx and .eval files are)",
    b"\x1f\x8b": "a file that gzip has compressed",
    b"\x28\xb5\x2f\xfd": "a file that zstd has compressed",
    b"PAR1": "a Parquet file",
    b"SQLite format 3\0": "an SQLite database",
    b"%PDF-": "a PDF file",
}


def read_text(path: str | PathLike[str], kind: str, *, largest: int = LARGEST, advice: str | None = None) -> str:
    """Return the text of the file at `path`, without a byte order mark. `kind` is the expected content (`YAML text`).
    `largest` is in bytes, and `advice` is the advice for a larger file. Raises InputError, with line and column, if
    the file is missing, not a regular file, too large, binary or not UTF-8."""
    return decode(read_bytes(path, kind, largest=largest, advice=advice), Place.of(path).path, kind)


def decode(data: bytes, path: str, kind: str) -> str:
    """Decode UTF-8 text. Raises InputError at the first invalid byte."""
    refuse_binary(data, path, kind)
    nul = data.find(b"\0")
    if nul >= 0:
        before = data[:nul].decode("utf-8", "replace").removeprefix("\ufeff")
        raise InputError(
            "the file contains a NUL byte, so it is binary or UTF-16",
            place=place_in(before, path, len(before)),
            allowed=f"{kind} in UTF-8",
            advice="save it as UTF-8 text",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        # positions are counted without the byte order mark, which utf-8-sig removes first
        valid = fault.object[: fault.start].decode("utf-8", "replace").removeprefix("\ufeff")
        raise InputError(
            f"the byte 0x{fault.object[fault.start]:02x} is not UTF-8",
            place=place_in(valid, path, len(valid)),
            allowed=f"{kind} in UTF-8",
            advice="save the file as UTF-8",
        ) from None


def refuse_binary(data: bytes, path: str, kind: str) -> None:
    """Raise InputError for the data of a well-known kind of binary file."""
    for opening, called in _BINARY.items():
        if data.startswith(opening):
            what = f"the file is {called}, not text"
            advice = f"give {kind}: unpack the file, or let the program that wrote it export text"
            raise InputError(what, place=Place(path, 1, 1), allowed=f"{kind} in UTF-8", advice=advice)


class Lines:
    """The lines of a text, counted from the position that was asked for last. Without this class, each of many
    positions would require counting from the beginning of the text. The text begins on the file's line `first`."""

    def __init__(self, text: str, path: str, first: int = 1) -> None:
        self._text, self._path = text, path
        self._at, self._line, self._begins = 0, first, 0

    def place(self, position: int) -> Place:
        """Return the place of the character at `position`."""
        here, text = self._at, self._text
        if position >= here:
            self._line += text.count("\n", here, position)
            self._begins = max(self._begins, text.rfind("\n", here, position) + 1)
        else:
            self._line -= text.count("\n", position, here)
            if position < self._begins:
                self._begins = text.rfind("\n", 0, position) + 1
        self._at = position
        return Place(self._path, self._line, position - self._begins + 1)


def place_in(text: str, path: str, position: int) -> Place:
    """Return the place of the character at `position`. Line and column start at 1."""
    return Place(path, text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))
