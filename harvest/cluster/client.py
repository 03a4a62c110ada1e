"""The client side of a cluster: connecting, waiting for tasks, and detecting that the scheduler is gone."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from harvest.systems.exposure import is_this_machine
from harvest.terminal import print_message, printable
from topics.errors import InputError

# Schemes of addresses for which Dask needs certificates.
_TLS_SCHEMES = ("tls", "wss")

# Advice if they are missing.
_TLS_ADVICE = (
    "name them in Dask's settings (distributed.comm.tls), or in DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"
)

# Seconds after which an unreachable scheduler counts as gone; a shorter break is tolerated.
_GONE_SECONDS = 15


@contextmanager
def connect_client(address: str, *, seconds: float = 10) -> Iterator[Any]:
    """Connect to the scheduler at `address` and yield Dask's client, which is closed at the end. The connection may
    take `seconds`, and the first answer another `seconds`. Raises InputError if no scheduler answers at the address,
    or if Dask is not installed."""
    if not address.strip():
        raise InputError("the address of the scheduler is empty", allowed="an address such as tcp://HOST:8786")
    try:
        import distributed
    except ImportError:
        raise InputError(
            "a cluster needs Dask, which is not installed", advice="pip install 'conversation-harvest[cluster]'"
        ) from None

    class Client(distributed.Client):  # type: ignore[misc]  # untyped
        """Dask's client, which closes itself at once if it cannot start. Otherwise garbage collection would close it
        in any thread, which deadlocks if another client is just starting in that thread."""

        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.close()
                raise

        async def _start(self, **options: Any) -> None:
            # Dask's own limit covers only the connection: it would wait forever for the other side's first words.
            await asyncio.wait_for(super()._start(**options), 2 * seconds)

    try:
        security = distributed.Security().get_connection_args("client")
    except Exception as fault:  # of files, of TLS, of Dask's settings
        raise InputError(f"the certificates in Dask's settings cannot be used: {fault}", advice=_TLS_ADVICE) from None
    if address.partition("://")[0] in _TLS_SCHEMES and security.get("ssl_context") is None:
        raise InputError(f"{address} needs certificates, but Dask's settings do not name any", advice=_TLS_ADVICE)
    if warning := unencrypted_warning(address):
        print_message(printable(f"warning: {warning}", line=True))
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except Exception as fault:  # bytes of another program may be read as a length, and fail as MemoryError
        told = isinstance(fault, (OSError, ValueError, RuntimeError, ImportError)) and str(fault)
        said = told or "the program that listens there is not one"
        raise InputError(f"there is no Dask scheduler at {address}: {said}", advice="check the address") from None
    with client:
        yield client


def unencrypted_warning(address: str) -> str:
    """Return a warning about trusting a scheduler at this address, or "" for TLS or an address on this machine."""
    scheme, _, rest = address.rpartition("://")
    host = urlsplit(f"//{rest}").hostname
    if scheme in _TLS_SCHEMES or scheme == "inproc" or is_this_machine(host):
        return ""
    return (
        f"{address} is reached unencrypted and without certificates: whatever answers there can run code here, and "
        "anyone who reaches the cluster can run code on its workers and read their keys; use tls:// (SECURITY.md)"
    )


def count_threads(client: Any, address: str) -> int:
    """Return the number of tasks that the workers can run at the same time. Raises InputError without workers."""
    found = sum(one["nthreads"] for one in client.scheduler_info(n_workers=-1)["workers"].values())
    if not found:
        raise InputError(f"the scheduler at {address} has no workers", advice="start one: dask worker ADDRESS")
    return int(found)


def wait_for_any(client: Any, futures: Sequence[Any]) -> None:
    """Wait until at least one of the tasks is done. Raises InputError if the scheduler does not come back."""
    arrived = threading.Event()
    for future in futures:
        future.add_done_callback(lambda _: arrived.set())
    silent = 0
    while silent < _GONE_SECONDS and not arrived.wait(1.0):
        silent = 0 if client.status == "running" else silent + 1
    if silent == _GONE_SECONDS:
        raise scheduler_gone_error()


def scheduler_gone_error() -> InputError:
    return InputError(
        "the scheduler is gone; finished trials are saved",
        advice="start it and its workers again, and repeat the command",
    )
