"""Looks: read-only requests whose answers identify an API without a user turn."""

from harvest.drivers.reply_path import Path, Paths
from topics.document import StrictModel


class Look(StrictModel):
    """A GET request for `path` below `base_url`. The API is the expected one if `finds` finds something in the answer.
    `fills` has the paths of values for options. `host` is a regular expression for the vendor's hosts, which identify
    the API without a request."""

    path: str | None = None
    finds: Paths = ()
    fills: dict[str, Path] = {}  # noqa: RUF012 - pydantic copies it
    host: str | None = None
