"""An object store in which each name is written only once.

Nothing in the store is ever overwritten: the first writer of a name succeeds, and later writers are refused. The
whole package relies on this. Only this module uses obstore, also for reading, so that no further library (such as
fsspec) is needed.
"""

import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from topics.errors import HarvestError, InputError, Place

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SCHEMES = ("s3", "gs", "az", "file")
_PATIENCE = timedelta(seconds=60)
_THREADS = 8  # requests at once
_STATUS = re.compile(r"status code: ([0-9]{3} [A-Za-z ]{1,40})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_PHRASES = {
    "Connection refused": "nothing answers there",
    "dns error": "there is no such host",
    "certificate": "its certificate is not trusted",
    "operation timed out": "it did not answer in time",
    "No space left": "its disk is full",
    "Permission denied": "it must not be written or read",
    "Read-only file system": "its disk is mounted read-only",
    "Disk quota exceeded": "the quota on its disk is used up",
    "Account must be specified": "AZURE_STORAGE_ACCOUNT_NAME is not set",
    "BadScheme": "its endpoint is http, which AWS_ALLOW_HTTP=true allows",
}


class StoreFault(HarvestError):
    """A failed operation (`doing`) in a store. `reason` describes the cause without credentials."""

    def __init__(self, url: str, doing: str, reason: str) -> None:
        super().__init__(
            f"cannot {doing} the store {url}: {reason}\n"
            "  safe: everything that was recorded is in the run's folder on this machine\n"
            "  do: check the address and the credentials in the environment, then give the same command again"
        )


class Store:
    """The objects below one address. `url` is the user's address without credentials. `backend` is an obstore store."""

    def __init__(self, url: str, backend: Any) -> None:
        self.url, self._backend = url, backend

    def put_new(self, name: str, data: bytes) -> bool:
        """Write `data` under a new name. If the name exists, nothing changes and False is returned. The existing
        object may come from this very call, because a request whose reply was lost is sent again. Raises StoreFault.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError

        try:
            obstore.put(self._backend, name, data, mode="create")
        except AlreadyExistsError:
            return False
        except (BaseError, OSError) as fault:
            raise StoreFault(self.url, "write to", _in_words(fault)) from None
        return True

    def get(self, name: str) -> bytes:
        """Return the object, or b"" if there is none. Raises StoreFault."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            return bytes(obstore.get(self._backend, name).bytes())
        except FileNotFoundError:
            return b""
        except (BaseError, OSError) as fault:
            raise StoreFault(self.url, "read", _in_words(fault)) from None

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the names below `prefix` and their sizes in bytes, without the hidden files that file managers leave
        in folders. Raises StoreFault."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            pages = obstore.list(self._backend, prefix)
            found = {str(one["path"]): int(one["size"]) for page in pages for one in page}
        except (BaseError, OSError) as fault:
            raise StoreFault(self.url, "list", _in_words(fault)) from None
        return {name: size for name, size in found.items() if not name.rpartition("/")[2].startswith(".")}

    def folders(self, prefix: str = "") -> list[str]:
        """Return the sorted first parts of the names below `prefix`. Raises StoreFault."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            found = obstore.list_with_delimiter(self._backend, prefix or None)["common_prefixes"]
        except (BaseError, OSError) as fault:
            raise StoreFault(self.url, "list", _in_words(fault)) from None
        return sorted(str(path).rpartition("/")[2] for path in found)

    def remove(self, name: str) -> None:
        """Remove a message to other machines. Recordings are never removed. Raises StoreFault."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            obstore.delete(self._backend, name)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as fault:
            raise StoreFault(self.url, "write to", _in_words(fault)) from None


def is_url(text: str) -> bool:
    """Return True if a string is the address of a store and not a path."""
    return "://" in text


def open_store(url: str, *, reading: bool = False) -> Store:
    """Return the store at `url`, without contacting it. With `reading`, the folder of a `file:` address is not
    created, because nothing will be written. Credentials come only from the environment (see docs/commands.md).
    Raises InputError for an invalid address, an address with credentials, and a missing folder to read."""
    parts = _check_url(url)
    try:
        from obstore.store import LocalStore, from_url
    except ImportError:
        raise InputError(
            "runs in a store need obstore, which is not installed", advice="pip install 'conversation-harvest[stores]'"
        ) from None
    from obstore.exceptions import BaseError

    try:
        if parts.scheme == "file":
            folder = Path(unquote(parts.path))
            if reading and not folder.is_dir():
                raise InputError("there is no such folder", place=Place(url), advice="check the address")
            return Store(url, LocalStore(os.fspath(folder), mkdir=not reading))
        return Store(url, from_url(url, retry_config={"max_retries": 8, "retry_timeout": _PATIENCE}))
    except (BaseError, OSError, ValueError) as fault:
        raise InputError(f"{url} cannot be a store: {_in_words(fault)}") from None


def _check_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InputError("this is not an address", allowed=_allowed_forms()) from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        # Not repeated in the message, because it is a secret.
        raise InputError(
            "the address of a store must not contain a user name, a password or a signature",
            allowed="credentials in the environment only",
        )
    if parts.scheme not in _SCHEMES or not is_url(url):
        raise InputError(f"{url!r} is not the address of a store", allowed=_allowed_forms())
    if parts.scheme == "file":
        if parts.netloc or len(parts.path) < 2:
            raise InputError(f"{url!r} does not name a folder on this machine", allowed="file:///path/of/a/folder")
    elif not parts.netloc or ":" in parts.netloc:
        raise InputError(f"{url!r} does not name a bucket", allowed=_allowed_forms())
    return parts


def _allowed_forms() -> str:
    return "s3://BUCKET/…, gs://BUCKET/…, az://CONTAINER/… or file:///FOLDER"


def _in_words(fault: Exception) -> str:
    """Describe an error without the library's message, which may contain signed addresses."""
    text = str(fault)
    status, code = _STATUS.search(text), _CODE.search(text)
    said = [*(found[1].strip() for found in (status, code) if found)]
    said += [words for phrase, words in _PHRASES.items() if phrase in text]
    return ", ".join(said) or type(fault).__name__.removesuffix("Error")


def run_concurrently(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """Apply `work` to the items in several threads, and return the results in order. Raises the first error."""
    waiting = list(items)
    if len(waiting) < 2:
        return [work(one) for one in waiting]
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="store") as pool:
        return list(pool.map(work, waiting))
