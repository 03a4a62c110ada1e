"""What an audit from elsewhere makes this machine do is shown before it is done, and nothing else is done."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from harvest.drivers.options import VariableName, WireOptions
from harvest.drivers.registry import DRIVERS, build_driver, options_model, read_exposure
from harvest.drivers.wire import Request, Wire
from harvest.systems.driver import Denied, Surroundings
from harvest.systems.exposure import Exposure, is_this_machine
from tests.support.command_line import harvest
from tests.support.recording_server import Recorder, recording
from topics.document import StrictModel, parse_document
from topics.errors import InputError

VALUES = {
    "AWS_SECRET_ACCESS_KEY": "aw1-Hs7dKf3mQz9xLp5v",
    "DESK_KEY": "dk2 Gj8tRb4nWy6cVs1q",
    "DESK_QUERY": "dq3-Lm5pXk9vTd2fBz7h",
    "DESK_BODY": "db4-Nc6wYj1rSg8kQv3t",
    "DESK_FORM": "df5-Vx9zPh2mKl4bJw6d",
    "WORDS_KEY": "wk6-Tr3gFq7yCn5jMs8x",
    "PROGRAM_KEY": "pk7-Bd4vZk9hWt1pGf6c",
    "NOBODYS_KEY": "nk8-Qy2sLr6xDm3wHj9v",
}
"""Of environment variables; the last one is named by no file."""

PROGRAM = """\
import json, os, sys
open("environment.json", "w").write(json.dumps(dict(os.environ)))
for line in sys.stdin:
    print(json.dumps({"text": "Here is one: https://www.imdb.com/title/tt9000000001/"}), flush=True)
"""
FUNCTION = """\
import pathlib

pathlib.Path("imported").touch()


def answer(text):
    return "Here is one: https://www.imdb.com/title/tt9000000001/"
"""
PROTOCOL = """\
format: harvest-protocol/1
name: worded
version: 1
rules: {none: {empty: {}}}
users:
  visitor: {simulator: llm, mode: free, turns: 2, persona: A teacher.}
turn_limit: 3
start: talk
states:
  talk:
    user: visitor
    edges:
      - {if: none, label: x, stop: breakdown}
      - {otherwise: true, label: o, go: talk}
"""


def audit(folder: Path, *systems: Mapping[str, Any], **more: Any) -> Path:
    value = {
        "format": "harvest-audit/1",
        "name": "shown",
        "topics": "fairweb-45",
        "only": ["M001"],
        "protocol": "fairweb-two-round",
        "trials": 1,
        "systems": [{"name": f"S{number}", **system} for number, system in enumerate(systems, 1)],
        **more,
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    (folder / "bot.py").write_text(FUNCTION)
    (folder / "program.py").write_text(PROGRAM)
    (folder / "protocol.yaml").write_text(PROTOCOL)
    return path


def everything(one: Recorder, other: Recorder, proxy: Recorder) -> list[dict[str, Any]]:
    """A system for each way in which an option can name a variable, a server or code."""
    return [
        {"driver": "openai", "options": {"base_url": one.url, "model": "m", "api_key_env": "AWS_SECRET_ACCESS_KEY"}},
        {
            "driver": "http",
            "options": {
                "url": f"{one.url}/{{{{ session }}}}/say",
                "headers": {"X-Key": {"env": "DESK_KEY"}},
                "query": {"a": {"env": "DESK_QUERY"}},
                "body": {"deep": [{"b": {"env": "DESK_BODY", "prefix": "p "}}], "text": "{{ text }}"},
                "reply": "$.reply",
                "session": "$.id",
                "open": {"url": f"{other.url}/open", "form": {"c": {"env": "DESK_FORM"}}},
                "close": {"url": f"{other.url}/close", "method": "DELETE"},
            },
        },
        {"driver": "openai", "options": {"base_url": one.url, "model": "m", "proxy": proxy.url}},
        {
            "driver": "command",
            "options": {
                "argv": [sys.executable, "program.py"],
                "mode": "json",
                "env": {"TOKEN": {"env": "PROGRAM_KEY"}, "LANG": "C.UTF-8"},
            },
        },
        {"driver": "python", "options": {"function": "bot.py:answer"}},
        {"driver": "parrot"},
    ]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (*VALUES.items(), ("A_PROXY", "http://10.0.0.1:3128")):
        monkeypatch.setenv(name, value)


def listed(path: Path) -> dict[str, dict[str, Any]]:
    """What `check --json` lists, by system or endpoint."""
    done = harvest("check", path.name, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["exposures"]}


def test_no_run_sends_a_variable_contacts_a_server_or_starts_code_that_check_does_not_list(tmp_path: Path) -> None:
    with recording() as one, recording() as other, recording() as proxy:
        words = {"words": {"base_url": other.url, "model": "m", "api_key_env": "WORDS_KEY"}}
        path = audit(tmp_path, *everything(one, other, proxy), endpoints=words)
        found = listed(path)
        assert [one.requests, other.requests, proxy.requests] == [[], [], []]
        done = harvest("run", path.name, "--out", "run", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        audit(tmp_path, *everything(one, other, proxy)[:1], endpoints=words, protocol="protocol.yaml")
        done = harvest("run", path.name, "--out", "worded", cwd=tmp_path)
        assert done.returncode in (0, 3), done.stderr
    sent = one.sent(VALUES) | other.sent(VALUES) | proxy.sent(VALUES)
    shown = {(name, origin) for each in found.values() for name in each["variables"] for origin in each["contacts"]}
    assert sent <= shown
    assert {name for name, _ in sent} == set(VALUES) - {"PROGRAM_KEY", "NOBODYS_KEY"}
    assert one.hosts | other.hosts | proxy.hosts == {origin for each in found.values() for origin in each["contacts"]}
    assert proxy.requests
    assert found["S3"]["proxies"] == [proxy.url]
    got = json.loads((tmp_path / "environment.json").read_text())
    given = {name for name, value in VALUES.items() if value in got.values()}
    assert given == set(found["S4"]["variables"]) == {"PROGRAM_KEY"}
    assert found["S4"]["runs"] == [f"the program {sys.executable} program.py"]
    assert found["S5"]["runs"] == ["the function bot.py:answer"]
    assert not any(found["S6"][key] for key in ("runs", "contacts", "variables", "proxies"))


def test_check_prints_it_first_and_for_people(tmp_path: Path) -> None:
    with recording() as one, recording() as other, recording() as proxy:
        path = audit(tmp_path, *everything(one, other, proxy))
        done = harvest("check", path.name, cwd=tmp_path, width=1000)
    assert done.returncode == 0, done.stderr
    head = done.stdout.splitlines()
    assert head[0] == f"runs: the program {sys.executable} program.py (S4); the function bot.py:answer (S5)"
    assert head[1] == f"contacts: {one.url} (S1, S2, S3); {other.url} (S2)"
    assert head[2] == f"through the proxy: {proxy.url} (S3)"
    assert head[3].startswith(f"sends: AWS_SECRET_ACCESS_KEY to {one.url} (S1); ")
    assert f"DESK_FORM to {one.url}, {other.url} (S2)" in head[3]
    assert f"PROGRAM_KEY to the program {sys.executable} program.py (S4)" in head[3]
    assert head[4] == "shown: fairweb-two-round over fairweb-45, nothing was sent"


def test_code_is_listed_before_it_is_imported(tmp_path: Path) -> None:
    path = audit(tmp_path, {"driver": "python", "options": {"function": "bot.py:answer"}})
    (tmp_path / "bot.py").write_text("raise SystemExit(0)")
    done = harvest("check", path.name, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == "runs: the function bot.py:answer\n"


def test_planning_imports_no_code_of_an_audit(tmp_path: Path) -> None:
    path = audit(
        tmp_path, {"driver": "python", "options": {"function": "bot.py:answer"}}, {"driver": "parrot"}, only=None
    )
    done = harvest("plan", path.name, "--detect", "20", "--topics", "8", "--trials", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()
    assert harvest("check", path.name, cwd=tmp_path).returncode == 0
    assert (tmp_path / "imported").exists()


def test_a_schedule_asks_for_the_variables_that_are_declared_and_for_no_others(tmp_path: Path) -> None:
    with recording() as one, recording() as other, recording() as proxy:
        systems = everything(one, other, proxy)
        systems[3]["options"]["env"]["HOST_env"] = "a text, and no name"
        audit(tmp_path, *systems)
        done = harvest("watch", "schedule", "audit.yaml", "--cron", cwd=tmp_path, width=1000)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("put ")]
    assert set(line.removeprefix("put ").partition(" into ")[0].split(", ")) == set(VALUES) - {
        "WORDS_KEY",
        "NOBODYS_KEY",
    }


@pytest.mark.parametrize("site", ["chat.yaml", {"url": "https://chat.example.org/"}])
def test_a_page_that_only_a_site_names_is_listed(tmp_path: Path, site: Any) -> None:
    (tmp_path / "chat.yaml").write_text("format: harvest-site/1\nname: chat\nurl: https://chat.example.org/\n")
    options = {"site": site, "proxy": {"env": "DESK_KEY"}}
    document = parse_document("{}", str(tmp_path / "audit.yaml"))
    found = read_exposure("browser", options, "A", tmp_path, document=document, loc=())
    assert found.origins == ("https://chat.example.org",)
    assert found.proxies == ("$DESK_KEY",)
    assert found.needed == ("DESK_KEY",)


class _Forgetful(StrictModel):
    key: str = "NOBODYS_KEY"


class _Careful(StrictModel):
    key: VariableName = "NOBODYS_KEY"


@pytest.mark.parametrize(("options", "refused"), [(_Forgetful, True), (_Careful, False)])
def test_a_driver_that_does_not_declare_a_variable_does_not_get_it(
    options: type[StrictModel], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("forgetful")
    module.Options = options  # type: ignore[attr-defined]
    module.build = lambda options, surroundings: surroundings.secret(options.key)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "forgetful", module)
    monkeypatch.setattr("harvest.drivers.registry.DRIVERS", {**DRIVERS, "forgetful": "forgetful"})
    given = {"key": "NOBODYS_KEY"}
    if refused:
        with pytest.raises(InputError, match="reads the environment variable NOBODYS_KEY, which its options do not"):
            build_driver("forgetful", given, Surroundings("A", Path()))
    else:
        assert build_driver("forgetful", given, Surroundings("A", Path())) == VALUES["NOBODYS_KEY"]  # type: ignore[comparison-overlap]


async def test_a_driver_reaches_no_server_that_its_options_do_not_declare() -> None:
    with recording() as one, recording() as other:
        exposure = Exposure("A", targets=(f"{one.url}/v1",))
        wire = Wire(WireOptions.model_validate({}), Surroundings("A", Path(), exposure=exposure))
        try:
            assert (await wire.ask(Request("GET", f"{one.url}/else"))).status == 200
            with pytest.raises(Denied, match="undeclared"):
                await wire.ask(Request("GET", f"{other.url}/v1"))
        finally:
            await wire.close()
    assert not other.requests


OFTEN_SECRET = ("env", "url", "proxy", "function", "argv")


@pytest.mark.parametrize("name", DRIVERS)
def test_an_option_that_looks_like_a_server_a_variable_or_code_declares_whether_it_is_one(name: str) -> None:
    """So that a slip in a new driver of Harvest's own is found; what drivers do not declare they cannot use anyway."""
    sample: dict[str, Any] = {
        "url": "https://h.example/",
        "base_url": "https://h.example/",
        "api_key_env": "NOBODYS_KEY",
        "env": {"A": {"env": "NOBODYS_KEY"}},
        "proxy": "http://h.example:1",
        "function": "bot.py:answer",
        "argv": ("bot",),
    }
    needed: dict[str, dict[str, Any]] = {
        "openai": {"base_url": "https://needed.example/", "model": "m"},
        "http": {"url": "https://needed.example/", "query": {"q": "{{ text }}"}, "reply": "text"},
        "command": {"argv": ("needed",)},
        "python": {"function": "needed.py:f"},
        "browser": {"url": "https://needed.example/"},
        "websocket": {"url": "wss://needed.example/", "send": "{{ text }}", "reply": "text"},
        "replay": {"run": "r"},
        "parrot": {},
    }
    model = options_model(name)
    for field in model.model_fields:
        if any(word in field for word in OFTEN_SECRET):
            before = Exposure.from_options("A", model.model_validate(needed[name]))
            value = "wss://h.example/" if name == "websocket" and field == "url" else sample[field]
            after = Exposure.from_options("A", model.model_validate({**needed[name], field: value}))
            assert before != after, f"{name}: {field} declares nothing"


HTTP, HTTPS = "http://203.0.113.7/v1", "https://203.0.113.7/v1"
KEY = {"api_key_env": "NOBODYS_KEY"}


@pytest.mark.parametrize(
    ("options", "clear"),
    [
        ({"base_url": HTTP, **KEY}, True),
        ({"base_url": "HTTP://203.0.113.7/v1", **KEY}, True),
        ({"base_url": "http://chat.internal:8000/v1", "headers": {"X-K": {"env": "NOBODYS_KEY"}}}, True),
        ({"base_url": "http://localhost.example.org/v1", **KEY}, True),
        ({"base_url": "http://0.0.0.0/v1", **KEY}, True),
        ({"base_url": "http://127.0.0.1:8000/v1", "proxy": "http://10.0.0.1:3128", **KEY}, True),
        ({"base_url": "http://127.0.0.1:8000/v1", "proxy": {"env": "A_PROXY"}, **KEY}, True),
        ({"base_url": "http://127.0.0.1:8000/v1", "proxy": "http://127.0.0.1:3128", **KEY}, False),
        ({"base_url": HTTP}, False),
        ({"base_url": HTTPS, **KEY}, False),
        ({"base_url": HTTPS, "proxy": "http://10.0.0.1:3128", **KEY}, False),
        ({"base_url": "http://localhost:8000/v1", **KEY}, False),
        ({"base_url": "http://LocalHost/v1", **KEY}, False),
        ({"base_url": "http://localhost./v1", **KEY}, True),
        ({"base_url": "http://[::1]:8000/v1", **KEY}, False),
        ({"base_url": "http://127.8.9.1/v1", **KEY}, False),
    ],
)
def test_a_key_sent_in_clear_to_another_machine_is_refused_unless_the_command_allows_it(
    tmp_path: Path, options: dict[str, Any], clear: bool
) -> None:
    path = audit(tmp_path, {"driver": "openai", "options": {"model": "m", **options}})
    done = harvest("check", path.name, cwd=tmp_path)
    assert done.stdout.startswith("contacts: "), "shown in any case"
    if not clear:
        assert done.returncode == 0
        return
    assert done.returncode == 2
    assert "audit.yaml:" in done.stderr
    assert "NOBODYS_KEY would be sent to " in done.stderr
    assert "over plain http" in done.stderr
    assert "--keys-in-clear" in done.stderr
    assert harvest("check", path.name, "--keys-in-clear", cwd=tmp_path).returncode == 0


def test_no_command_that_plays_sends_a_key_in_clear_unasked(tmp_path: Path) -> None:
    with recording() as one:
        options = {"base_url": f"http://0.0.0.0:{one.port}", "model": "m", "api_key_env": "NOBODYS_KEY"}
        path = audit(tmp_path, {"driver": "openai", "options": options})
        said = []
        for words in (["run", path.name, "--out", "run"], ["users", "chat", path.name, "--topic", "M001"]):
            done = harvest(*words, cwd=tmp_path, standard_input="hello\n")
            assert done.returncode == 2
            said.append(done.stderr)
        assert all("--keys-in-clear" in one for one in said)
        assert not one.requests
        done = harvest("run", path.name, "--out", "run", "--keys-in-clear", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert one.sent(VALUES) == {("NOBODYS_KEY", f"http://0.0.0.0:{one.port}")}


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.255.0.3", True),
        ("::1", True),
        ("localhost.", False),
        ("localhost.localdomain.example", False),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("127.0.0.1.example.org", False),
        ("2130706433", False),
        ("", False),
        (None, False),
    ],
)
def test_only_addresses_that_certainly_stay_on_this_machine_count_as_local(host: str | None, own: bool) -> None:
    assert is_this_machine(host) is own
