"""Tokens from an OpenID provider that nobody here wrote (oidc-provider-mock, on Authlib), which also guards the page
that is asked here: who has logged in."""

from __future__ import annotations

import asyncio
import base64
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, Opening, Surroundings
from harvest.systems.timing import REAL_CLOCK
from tests.servers.environment import python_environment
from tests.servers.leashed import answers, direct, free_port, leashed

ENVIRONMENT = {"ID": "audit", "SECRET": "c1/Gj8tRb4n:Wy6"}


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    port = free_port()
    program = str(python_environment("oidc_provider") / "bin" / "oidc-provider-mock")
    url = f"http://127.0.0.1:{port}"
    with leashed([program, "-p", str(port), "--user", "ada"]) as running:
        running.wait_for(lambda: answers(f"{url}/.well-known/openid-configuration"))
        yield url


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _call(url: str, form: dict[str, str] | None = None, **headers: str) -> tuple[dict[str, str], str]:
    """The headers and the body of the answer, whatever its status."""
    opener = direct(_Stay)
    content = urlencode(form).encode() if form is not None else None
    try:
        with opener.open(urllib.request.Request(url, content, headers), timeout=30) as response:
            return dict(response.headers), response.read().decode()
    except HTTPError as answer:
        with answer:
            return dict(answer.headers), answer.read().decode()
    except urllib.error.URLError as fault:
        raise ConnectionError(str(fault)) from None


def _log_in(provider: str) -> str:
    """The refresh token of ada, who has logged in and let the client act for her."""
    back = "http://client.example/back"
    given = {"client_id": ENVIRONMENT["ID"], "redirect_uri": back, "response_type": "code", "scope": "openid"}
    headers, _ = _call(f"{provider}/oauth2/authorize?{urlencode(given)}", {"sub": "ada"})
    (code,) = parse_qs(urlsplit(headers["Location"]).query)["code"]
    pair = base64.b64encode(f"{ENVIRONMENT['ID']}:{ENVIRONMENT['SECRET']}".encode()).decode()
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
    _, body = _call(f"{provider}/oauth2/token", form, Authorization=f"Basic {pair}")
    return str(json.loads(body)["refresh_token"])


class Asking:
    """A driver of the page. now: what its clock says, in seconds."""

    def __init__(self, provider: str, folder: Path, refresh_token: str) -> None:
        self.now, self.secrets = 0.0, set[str]()
        (folder / "ada.token").write_text(refresh_token)
        (folder / "ada.token").chmod(0o600)
        oauth2 = {
            "token_url": f"{provider}/oauth2/token",
            "client_id": {"env": "ID"},
            "client_secret": {"env": "SECRET"},
            "refresh_token_file": "ada.token",
        }
        options = {
            "url": f"{provider}/userinfo",
            "method": "GET",
            "query": {"text": "{{ text }}"},
            "reply": "$.sub",
            "auth": {"oauth2": oauth2},
        }
        clock = replace(REAL_CLOCK, monotonic=lambda: self.now)
        around = Surroundings("page", folder, environment=ENVIRONMENT, secrets=self.secrets, clock=clock)
        self.driver: Driver = build_driver("http", options, around)

    async def say(self, *texts: str) -> list[str]:
        session = await self.driver.open(Opening("page", "M001", 1, 1))
        return [(await session.say(text)).turn.answer.text for text in texts]


async def test_a_token_that_expires_in_the_middle_of_two_sessions_is_renewed(provider: str, tmp_path: Path) -> None:
    asking = Asking(provider, tmp_path, await asyncio.to_thread(_log_in, provider))
    five = [str(number) for number in range(5)]
    assert [*await asyncio.gather(asking.say(*five), asking.say(*five))] == [["ada"] * 5] * 2
    first = set(asking.secrets)
    asking.now = 3599.0  # the provider withdraws the first token when it issues the second
    assert [*await asyncio.gather(asking.say(*five), asking.say(*five))] == [["ada"] * 5] * 2
    await asking.driver.close()
    assert len(asking.secrets - first) == 1


async def test_a_refresh_token_that_the_provider_does_not_know_is_denied(provider: str, tmp_path: Path) -> None:
    asking = Asking(provider, tmp_path, "a-token-of-another-provider")
    with pytest.raises(Denied, match="400 invalid_grant: invalid refresh token; the refresh token has expired"):
        await asking.say("hello")
    await asking.driver.close()
