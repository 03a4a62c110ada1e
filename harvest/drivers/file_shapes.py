"""Files that go with a user turn, in the shapes that APIs want: objects in JSON, or parts of a multipart form."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from harvest.drivers.history import Message
from harvest.drivers.template import fill
from harvest.systems.driver import Denied
from topics.sent_files import SentFile

# The placeholders in the shape of a file.
FILE_PLACEHOLDERS = ("name", "stem", "type", "format", "data", "data_url", "content")

_FORMATS = {"mpeg": "mp3", "plain": "txt", "markdown": "md", "x-wav": "wav", "svg+xml": "svg"}
_ODD = re.compile(r"[^A-Za-z0-9 ()\[\]-]+")


def shaped_files(
    files: Iterable[SentFile],
    shapes: Mapping[str, Any],
    stored: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> list[Any]:
    """Return the files in their shapes, each in the first whose pattern (`image/*`) fits its type. `stored` has further
    values of placeholders, by the digests of files. Raises Denied (`cannot-attach`) for a type without a shape."""
    shaped = []
    for one in files:
        fitting = [shape for pattern, shape in shapes.items() if fnmatchcase(one.type.lower(), pattern)]
        if not fitting:
            raise Denied("cannot-attach", f"the driver of this system has no shape for {one.name} ({one.type})")
        shaped.append(fill(fitting[0], _FileValues(one, stored.get(one.sha256, {}))))
    return shaped


class _FileValues(dict[str, object]):
    """The values of the placeholders for one file. Those that take work are made when they are used."""

    def __init__(self, file: SentFile, stored: Mapping[str, object]) -> None:
        super().__init__({"name": file.name, "type": file.type, "sha256": file.sha256, **stored})
        self._file = file

    def __missing__(self, name: str) -> object:
        file = self._file
        match name:
            case "stem":  # Bedrock takes no other characters in the name of a document
                return _ODD.sub("-", file.name.rpartition(".")[0] or file.name)
            case "format":
                last = file.type.rpartition("/")[2]
                return _FORMATS.get(last, last)
            case "data":
                return base64.b64encode(file.read()).decode()
            case "data_url":
                return f"data:{file.type};base64,{self['data']}"
            case "content":
                return file.read().decode("utf-8", "replace")
        raise KeyError(name)


# The shapes of OpenAI's chat completions.
COMPLETION_SHAPES: Mapping[str, Any] = {
    "image/*": {"type": "image_url", "image_url": {"url": "{{ data_url }}"}},
    "audio/*": {"type": "input_audio", "input_audio": {"data": "{{ data }}", "format": "{{ format }}"}},
    "*/*": {"type": "file", "file": {"filename": "{{ name }}", "file_data": "{{ data_url }}"}},
}

# The shape in which a program reads files, and the one in which the evidence keeps what it read.
PROGRAM_SHAPES: Mapping[str, Any] = {"*/*": {"name": "{{ name }}", "type": "{{ type }}", "data": "{{ data }}"}}
EVIDENCE_SHAPES: Mapping[str, Any] = {"*/*": {"name": "{{ name }}", "type": "{{ type }}", "sha256": "{{ sha256 }}"}}


def with_shaped_files(messages: Iterable[Message], shapes: Mapping[str, Any]) -> list[Message]:
    """Return the messages of a conversation, with attached files in the shapes of the API. Raises as `shaped_files`."""
    return [{**one, "files": shaped_files(one["files"], shapes)} if "files" in one else one for one in messages]


def multipart(fields: Iterable[tuple[str, str]], part: str, files: Sequence[SentFile]) -> tuple[str, bytes]:
    """Return the media type and the body of a form with files (RFC 7578). The same form has the same bytes."""
    pieces: list[tuple[str, bytes]] = [
        (f'Content-Disposition: form-data; name="{_quoted(name)}"', value.encode("utf-8", "surrogatepass"))
        for name, value in fields
    ]
    for one in files:
        head = f'Content-Disposition: form-data; name="{_quoted(part)}"; filename="{_quoted(one.name)}"'
        pieces.append((f"{head}\r\nContent-Type: {one.type}", one.read()))
    digest = hashlib.sha256(b"".join(head.encode("utf-8", "surrogatepass") + data for head, data in pieces))
    boundary = f"harvest-{digest.hexdigest()}"
    body = b"".join(
        f"--{boundary}\r\n{head}\r\n\r\n".encode("utf-8", "surrogatepass") + data + b"\r\n" for head, data in pieces
    )
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")  # as browsers do
