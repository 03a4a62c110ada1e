"""The cluster as whoever gives it work sees it."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dask
import pytest

from harvest.cluster import client
from harvest.cluster.client import connect_client
from topics.errors import InputError


def test_a_client_that_cannot_start_is_closed_at_once_and_not_by_garbage_collection() -> None:
    before = set(threading.enumerate())
    gc.disable()
    try:
        with pytest.raises(InputError, match="there is no Dask scheduler at nowhere"), connect_client("nowhere"):
            pass
        assert [one.name for one in threading.enumerate() if one not in before] == []
    finally:
        gc.enable()


@contextmanager
def listening(says: bytes) -> Iterator[str]:
    """The address of what is no scheduler: it takes one connection, says this, and is silent then."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: list[socket.socket] = []

        def serve() -> None:
            taken.append(server.accept()[0])
            taken[0].sendall(says)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        thread.join()
        taken[0].close()


@pytest.mark.parametrize("says", [b"", b"SSH-2.0-OpenSSH_9.2p1\r\n"], ids=["nothing", "a greeting of its own"])
def test_a_server_that_is_not_a_scheduler_is_abandoned(says: bytes) -> None:
    before = set(threading.enumerate())
    with listening(says) as address:
        said = f"there is no Dask scheduler at {address}: the program that listens there is not one"
        with pytest.raises(InputError, match=said), connect_client(address, seconds=1):
            pass
    assert [one.name for one in threading.enumerate() if one not in before] == []


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("tcp://10.1.2.3:8786", True),
        ("tcp://scheduler.example:8786", True),
        ("ws://scheduler.example:8786/x", True),
        ("scheduler.example:8786", True),
        ("tcp://[fd00::7]:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://scheduler.example:8786", False),
        ("wss://scheduler.example:8786", False),
    ],
)
def test_the_trusted_machines_are_named_before_another_machine_is_contacted_in_clear(
    address: str, warned: bool
) -> None:
    assert ("can run code here" in client.unencrypted_warning(address)) is warned


def test_the_warning_comes_before_the_connection(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError), connect_client("tcp://host.invalid:8786", seconds=1):
        pass
    assert "tcp://host.invalid:8786 is reached unencrypted" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("address", ["", " "])
def test_an_empty_address_is_refused_as_empty(address: str) -> None:
    with pytest.raises(InputError, match="the address of the scheduler is empty"), connect_client(address, seconds=1):
        pass


def test_encryption_without_certificates_is_refused_and_the_settings_are_named() -> None:
    with pytest.raises(InputError, match=r"needs certificates(?s:.)*TLS__CA_FILE"), connect_client("tls://127.0.0.1:1"):
        pass
    none = {f"distributed.comm.tls.{name}": "/none.pem" for name in ("ca-file", "client.cert", "client.key")}
    with (
        dask.config.set(none),
        pytest.raises(InputError, match="the certificates in Dask's settings cannot be used"),
        connect_client("tls://127.0.0.1:1"),
    ):
        pass
