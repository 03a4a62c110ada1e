"""Servers that ask for a client certificate: a real handshake with each."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, DriverError, Opening, Surroundings
from tests.servers.guarded_chat import CLIENT, SECRET, GuardedChat
from tests.servers.local_http import LocalServer, completions, serving
from tests.support.checkout import DATA
from topics.errors import InputError

CERTIFICATE, LOCKED_KEY = DATA / "untrusted_certificate.pem", DATA / "untrusted_certificate_key.pem"
PASSWORD = "lemon-tree-9174"


def demanding(version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> ssl.SSLContext:
    """The server's side: it trusts one client."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=CERTIFICATE)
    context.load_cert_chain(CERTIFICATE)
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = context.maximum_version = version
    return context


@asynccontextmanager
async def answer(server: LocalServer, **auth: Any) -> AsyncIterator[str]:
    options = {"base_url": server.url, "model": "m", "ca_file": str(CERTIFICATE), "timeout": 20.0}
    given = {**options, **({"auth": auth} if auth else {})}
    around = Surroundings("desk", DATA, environment={"PASSWORD": PASSWORD, "WRONG": "orange-9174", "SECRET": SECRET})
    driver = build_driver("openai", given, around)
    try:
        session = await driver.open(Opening("desk", "M001", 1, 1))
        yield (await session.say("echo: hello")).turn.answer.text
    finally:
        await driver.close()


VERSIONS = pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])


@VERSIONS
async def test_a_client_with_its_certificate_is_accepted(version: ssl.TLSVersion) -> None:
    async with serving(completions, demanding(version)) as server:
        async with answer(server, client_cert={"certificate": "untrusted_certificate.pem"}) as text:
            assert text == "hello"
        locked = {"certificate": str(CERTIFICATE), "key": LOCKED_KEY.name, "password": {"env": "PASSWORD"}}
        async with answer(server, client_cert=locked) as text:
            assert text == "hello"


@contextmanager
def refusing(version: ssl.TLSVersion) -> Iterator[LocalServer]:
    """A server that says why it ends a connection, as OpenSSL's do; asyncio's closes it without a word."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            with suppress(ssl.SSLError):
                demanding(version).wrap_socket(connection.dup(), server_side=True)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):  # closed with bytes unread, it would be reset, and the word might be lost
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield LocalServer(f"https://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


@VERSIONS
async def test_a_client_without_one_is_denied(version: ssl.TLSVersion) -> None:
    with refusing(version) as server, pytest.raises(DriverError) as caught:
        async with answer(server):
            pass
    assert (type(caught.value), caught.value.reason) == (Denied, "tls")
    assert "client certificate (auth: client_cert)" in caught.value.detail


async def test_the_token_server_receives_the_certificate_too() -> None:
    chat = GuardedChat()
    async with serving(chat, demanding()) as server:
        oauth2 = {"token_url": f"{server.url}/token", "client_id": CLIENT, "client_secret": {"env": "SECRET"}}
        options = {
            "url": f"{server.url}/chat",
            "body": {"session": "one", "text": "{{ text }}"},
            "reply": "$.reply",
            "ca_file": str(CERTIFICATE),
            "auth": {"oauth2": oauth2, "client_cert": {"certificate": str(CERTIFICATE)}},
        }
        driver = build_driver("http", options, Surroundings("desk", DATA, environment={"SECRET": SECRET}))
        session = await driver.open(Opening("desk", "M001", 1, 1))
        await session.say("Films?")
        await driver.close()
    assert [said for said, _ in chat.truth["one"]] == ["Films?"]


@pytest.mark.parametrize(
    ("client_cert", "words"),
    [
        ({"certificate": "nowhere.pem"}, "cannot be used: No such file or directory"),
        ({"certificate": "README.md"}, "allowed: a certificate and its private key in PEM form"),
        ({"certificate": CERTIFICATE.name, "key": "README.md"}, "allowed: a certificate and its private key"),
        ({"certificate": CERTIFICATE.name, "key": LOCKED_KEY.name}, "the password is wrong or missing"),
        (
            {"certificate": CERTIFICATE.name, "key": LOCKED_KEY.name, "password": {"env": "WRONG"}},
            "the password is wrong or missing",
        ),
        ({"certificate": CERTIFICATE.name, "password": "lemon"}, "this is a secret: write {env: NAME}"),
    ],
)
async def test_an_unusable_certificate_is_refused(client_cert: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        async with answer(LocalServer("https://127.0.0.1:1"), client_cert=client_cert):
            pass
    assert words in str(caught.value)
    assert "lemon" not in str(caught.value)


def test_paths_start_at_the_folder_of_the_audit(tmp_path: Path) -> None:
    given = {"base_url": "https://127.0.0.1:1/v1", "model": "m", "auth": {"client_cert": {"certificate": "me.pem"}}}
    with pytest.raises(InputError, match=f"{tmp_path}/me.pem"):
        build_driver("openai", given, Surroundings("desk", tmp_path))
