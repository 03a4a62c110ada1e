"""Options that drivers share: addresses and proxies, and that no secret is repeated where one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from harvest.drivers.browser import Options, browser_settings
from harvest.drivers.registry import build_driver, options_model
from harvest.drivers.rereading import read_reply
from harvest.systems.driver import Surroundings
from topics.document import parse_document
from topics.errors import InputError
from topics.target import parse_target

PASSWORD = "canary-5e1c77d0"
PROXIES = (
    f"http://me:{PASSWORD}@proxy:3128",
    f"http://me:{PASSWORD}@proxy:notaport",
    f"http://me:{PASSWORD}@proxy:99999",
    f"http://me:{PASSWORD}@[proxy",
    f"http://me:{PASSWORD}/x@proxy:1",
    f"http://me:{PASSWORD}@prox\u2100y",
    f"ftp://me:{PASSWORD}@proxy",
    f"me:{PASSWORD}@proxy",
)
DRIVERS: dict[str, dict[str, Any]] = {
    "browser": {"url": "http://127.0.0.1:1/"},
    "openai": {"base_url": "http://127.0.0.1:1/v1", "model": "m"},
    "http": {"url": "http://127.0.0.1:1/", "body": "{{ text }}", "reply": "$.text"},
}
OTHERS: dict[str, dict[str, Any]] = {
    "websocket": {"url": "ws://127.0.0.1:1/", "send": "{{ text }}", "reply": "text"},
    "gemini": {"model": "m"},
}


def refused(name: str, environment: dict[str, str], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        build_driver(name, {**(DRIVERS | OTHERS)[name], **options}, Surroundings("s", Path(), environment=environment))
    return str(caught.value)


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_with_a_password_is_refused_and_not_repeated(name: str, proxy: str) -> None:
    said = refused(name, {}, proxy=proxy)
    assert "a proxy's user name and password must not be written in a file" in said
    assert PASSWORD not in said


def test_a_key_that_is_written_into_an_address_is_refused_and_not_repeated() -> None:
    for name, options in (
        ("http", {"url": f"https://h.example/say?lang=de&key={PASSWORD}"}),
        ("http", {"query": {"Api_Key": PASSWORD}}),
        ("http", {"open": ({"url": "https://h.example/", "query": {"access_token": (PASSWORD,)}},)}),
        ("openai", {"base_url": f"https://h.example/v1?subscription-key={PASSWORD}"}),
        ("websocket", {"url": f"wss://h.example/?token={PASSWORD}"}),
        ("gemini", {"base_url": f"https://h.example/v1beta?key={PASSWORD}"}),
    ):
        said = refused(name, {}, **options)
        assert "in a query carries a secret: send it in a header, or write query: {" in said
        assert PASSWORD not in said
    played = {"url": f"https://h.example/?key={PASSWORD}", "body": "{{ text }}", "reply": "$.a"}
    assert read_reply("http", played, b'{"a": "It is."}', b'{"headers": [], "status": 200}').text == "It is."
    for allowed in ({"env": "KEY"}, "{{ session }}", ""):
        given = {**DRIVERS["http"], "session": "client", "query": {"key": allowed, "keyword": "mills"}}
        build_driver("http", given, Surroundings("s", Path(), environment={"KEY": PASSWORD}))


def test_the_header_that_names_an_address_has_the_name_of_a_header() -> None:
    text = 'url: http://h/\nbody: "{{ text }}"\nreply: $.a\npoll:\n  url: {header: The Place}\n'
    with pytest.raises(InputError, match=r"^audit\.yaml:5:17: header: 'The Place' is not the name of a header"):
        parse_document(text, "audit.yaml").validate_as(options_model("http"))


@pytest.mark.parametrize(
    "auth",
    [
        {"oauth2": {"token_url": "https://h.example/", "client_id": "c", "refresh_token_file": ""}},
        {"client_cert": {"certificate": ""}},
    ],
)
def test_a_file_without_a_name_is_refused(auth: dict[str, Any]) -> None:
    assert "must not be empty" in refused("http", {}, auth=auth)
    assert "must not be empty" in refused("http", {}, ca_file="")


def test_the_password_is_not_repeated_with_its_place_in_a_file_either() -> None:
    document = parse_document(f"url: http://127.0.0.1/\nproxy: {PROXIES[1]}\n", "audit.yaml")
    with pytest.raises(InputError, match=r"^audit\.yaml:2:8: proxy: a proxy's user name") as caught:
        document.validate_as(Options)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("proxy", ["nonsense", f"http://me:{PASSWORD}", "http://h:99999", "ftp://h:1", "http://:1", ""])
def test_an_invalid_proxy_of_a_browser_is_refused_and_not_repeated(proxy: str) -> None:
    said = refused("browser", {}, proxy=proxy)
    assert "the value is not the URL of a proxy: write http://host:port" in said
    assert PASSWORD not in said


@pytest.mark.parametrize(
    "proxy", [f"http://me:{PASSWORD}@h:99999", f"http://me:{PASSWORD}/@h:1", f"ftp://{PASSWORD}@h"]
)
def test_an_invalid_proxy_in_the_environment_is_named_only_by_its_variable(proxy: str) -> None:
    said = refused("browser", {"PROXY": proxy}, proxy={"env": "PROXY"})
    assert "PROXY does not contain the URL of a proxy" in said
    assert PASSWORD not in said


@pytest.mark.parametrize("name", ["openai", "http"])
@pytest.mark.parametrize("proxy", [f"http://me:{PASSWORD}/x@h:1", f"http://me:x@h:{PASSWORD}", f"ftp://{PASSWORD}@h"])
def test_an_unusable_proxy_in_the_environment_is_not_repeated(name: str, proxy: str) -> None:
    said = refused(name, {"PROXY": proxy}, proxy={"env": "PROXY"})
    assert "the proxy in the environment variable cannot be used" in said
    assert PASSWORD not in said


def test_a_password_before_the_variable_is_refused_too() -> None:
    said = refused("browser", {"HOST": "proxy:3128"}, proxy={"env": "HOST", "prefix": f"http://me:{PASSWORD}@"})
    assert "must not be written in a file" in said
    assert PASSWORD not in said


def test_a_secret_in_place_of_its_variable_is_not_repeated() -> None:
    text = f"url: http://127.0.0.1/\nproxy: {{env: 'http://me:{PASSWORD}@proxy'}}\n"
    with pytest.raises(InputError, match="the value is not the name of an environment variable") as caught:
        parse_document(text, "audit.yaml").validate_as(Options)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("proxy", ["http://h", "https://h:3128", "socks5://[::1]:1080"])
def test_a_proxy_reaches_the_browser_as_it_is_written(proxy: str) -> None:
    options = Options.model_validate({"url": "http://127.0.0.1/", "proxy": proxy})
    assert browser_settings(options, Surroundings("s", Path())).proxy == proxy


def test_a_proxy_with_a_password_comes_from_the_environment_and_is_known_as_a_secret() -> None:
    options = Options.model_validate({"url": "http://127.0.0.1/", "proxy": {"env": "PROXY"}})
    around = Surroundings("s", Path(), environment={"PROXY": PROXIES[0]})
    assert browser_settings(options, around).proxy == PROXIES[0]
    assert around.secrets == {PROXIES[0]}


def target_refused(url: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        parse_target(url, secret="elsewhere")
    return caught.value.message()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("example.org", "starts with http:// or https://"),
        ("ftp://example.org", "starts with http:// or https://"),
        ("http://", "names a host"),
        ("http://h:x", "cannot be read"),
        ("http://[::1", "cannot be read"),
        (f"http://me:{PASSWORD}@h", "must not contain a user name or a password: elsewhere"),
        (f"http://me:{PASSWORD}@h:x", "must not contain a user name or a password: elsewhere"),
        ("http://h/a b", "spaces or control characters"),
        ("http://h/\x7f", "spaces or control characters"),
    ],
)
def test_an_unusable_address_is_refused(url: str, words: str) -> None:
    said = target_refused(url)
    assert words in said
    assert PASSWORD not in said


@given(*2 * (st.text(st.characters(exclude_characters="/?#"), max_size=8),))
def test_whatever_stands_around_a_password_it_is_not_repeated(before: str, after: str) -> None:
    assert PASSWORD not in target_refused(f"http://{before}{PASSWORD}{after}@host:1x")


def test_an_at_sign_after_the_host_is_no_user_name() -> None:
    parts = parse_target("https://h.example:81/@me?to=a@b#c@d", secret="elsewhere")
    assert (parts.hostname, parts.port, parts.path) == ("h.example", 81, "/@me")
