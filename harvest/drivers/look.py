"""Looks: requests that only read, by whose answer an API is recognised without a user turn."""

from harvest.drivers.reply_path import Path, Paths
from topics.document import StrictModel


class Look(StrictModel):
    """A GET request for `path` below `base_url`. The API is the expected one if `finds` finds something in the answer.
    `fills` has the paths of values for options. `host` is a regular expression of the hosts of the vendor, where
    nothing needs to be asked."""

    path: str | None = None
    finds: Paths = ()
    fills: dict[str, Path] = {}  # noqa: RUF012 - pydantic copies it
    host: str | None = None
