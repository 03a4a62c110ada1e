"""The page about drivers: its tables come from the code, its examples are accepted, its reasons are all there are.

Run as a program, it writes the tables anew: `python -m tests.docs.test_drivers`.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import threading
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from harvest.drivers.options import Auth, ClientCertificate, OAuth2, SigV4, TokenCommand
from harvest.drivers.registry import DRIVERS, build_driver, options_model
from harvest.pages.browser.login import keep_login
from harvest.systems.driver import Opening, Surroundings
from tests.support.checkout import DATA, ROOT
from tests.support.recorded_run import record
from topics.document import parse_document

PAGE = ROOT / "docs" / "drivers.md"
DRIVERS_HERE = [name for name in DRIVERS if name != "parrot"]  # docs/parrot.md is its own page
VARIABLES = (
    *("OPENAI_API_KEY", "DESK_KEY", "DIFY_KEY", "DIRECT_LINE_SECRET", "GEMINI_KEY", "MODEL_TOKEN"),
    *("ENTRA_CLIENT", "ENTRA_SECRET"),
)
BLOCK = re.compile(r"(<!-- options: ([\w.]+) -->\n).*?(<!-- end -->)", re.DOTALL)
AUTH: Mapping[str, type[BaseModel]] = {
    "auth": Auth,
    "auth.oauth2": OAuth2,
    "auth.command": TokenCommand,
    "auth.sigv4": SigV4,
    "auth.client_cert": ClientCertificate,
}
REASON = re.compile(
    r"(?:Unanswered|NotSent|Denied)(?: if [\w.]+ else \w+)?,? ?\(?,?\s*\"([a-z0-9-]+)\"|_fault\(\s*\"([a-z0-9-]+)\""
)


def _kind(annotation: Any) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        one_alone = any(isinstance(part, BeforeValidator) for part in arguments[1:])
        kind = _kind(arguments[0])
        alone = kind.removeprefix("list of ") if kind == "list of mapping" else "text"
        return f"{alone} or {kind}" if one_alone and arguments[0] is not str else kind
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_kind(inner) for inner in arguments if inner is not type(None)))
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if origin in (dict, Mapping):
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "`{env: NAME}`" if "env" in annotation.model_fields else "mapping"
    words = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "any value"}
    return words.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return repr(value).replace("'", '"') if isinstance(value, str) else str(value)


def _model(name: str) -> type[BaseModel]:
    return AUTH[name] if name in AUTH else options_model(name)


def table(name: str) -> str:
    """The options of a driver, those of its own before those it shares, or those of credentials."""
    model = _model(name)
    levels = [one for one in model.__mro__ if issubclass(one, BaseModel)]
    place = {key: number for number, one in reversed([*enumerate(levels)]) for key in one.__annotations__}
    hints = typing.get_type_hints(model, include_extras=True)
    rows = ["| option | type | default | meaning |", "| --- | --- | --- | --- |"]
    for key in sorted(model.model_fields, key=place.__getitem__):
        field = model.model_fields[key]
        default = _default(field)
        shown = default if default in ("required", "–") else f"`{default}`"
        rows.append(f"| `{key}` | {_kind(hints[key])} | {shown} | {field.description} |")
    return "\n".join(rows) + "\n"


def renewed(page: str) -> str:
    return BLOCK.sub(lambda block: block[1] + table(block[2]) + block[3], page)


def test_the_tables_are_those_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [block[2] for block in BLOCK.finditer(page)] == [
        *AUTH,
        *("openai", "http", "websocket", "command", "python", "browser", "replay"),
    ]
    assert page == renewed(page), "renew the tables with: python -m tests.docs.test_drivers"


@pytest.mark.parametrize("name", [*DRIVERS_HERE, *AUTH])
def test_every_option_is_explained(name: str) -> None:
    assert [key for key, field in _model(name).model_fields.items() if not field.description] == []


def _examples() -> list[Any]:
    found = []
    for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        text = block if block.startswith("systems:") else "systems:\n" + block
        document = parse_document(text, "docs/drivers.md")
        found += document.value["systems"]  # type: ignore[index]
    return found


async def test_every_example_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def answer(text, history): return text\n")
    (tmp_path / "chat.py").write_text("async def session(): return str\n")
    keep_login(tmp_path / "desk.login.json", {"cookies": [], "origins": []})
    for name in ("company.pem", "audit.pem"):
        shutil.copy(DATA / "untrusted_certificate.pem", tmp_path / name)
    shutil.copy(DATA / "untrusted_certificate_key.pem", tmp_path / "audit.key")
    (tmp_path / "desk.token").write_text("a-token-for-tests\n")
    (tmp_path / "desk.token").chmod(0o600)
    await record(tmp_path / "runs" / "2024-05", ("echo: hello",), trials=1, name="assistant, May")
    environment = {**dict.fromkeys(VARIABLES, "a-value-for-tests"), "KEY_PASSWORD": "lemon-tree-9174"}
    examples = _examples()
    documented = {name for _, name, _ in BLOCK.findall(PAGE.read_text(encoding="utf-8"))} - AUTH.keys()
    assert documented >= {"browser", "command", "http", "openai", "python", "replay"}
    assert {example["driver"] for example in examples} == documented
    for example in examples:
        around = Surroundings(example["name"], tmp_path, environment=environment)
        await build_driver(example["driver"], example["options"], around).close()


async def test_the_function_with_a_connection_connects_for_each_session_and_closes_at_its_end(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(import asyncio.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    closed = [threading.Event() for _ in range(2)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(count)
        while line := await reader.readline():
            writer.write(f"{number}:\n{line.decode()}.\n".encode())
        closed[number].set()
        writer.close()

    count = itertools.count()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        place = f'"127.0.0.1", {server.sockets[0].getsockname()[1]}'
        assert '"chat.example.org", 7007' in code
        (tmp_path / "chat.py").write_text(code.replace('"chat.example.org", 7007', place), encoding="utf-8")
        options = {"function": "chat.py:session", "takes": "nothing"}
        driver = build_driver("python", options, Surroundings("lines", tmp_path))
        for number in range(2):
            session = await driver.open(Opening("lines", "M001", number + 1, 1))
            answers = [(await session.say(text)).turn.answer.text for text in ("hello", "bye")]
            assert answers == [f"{number}:\nhello", f"{number}:\nbye"]
            assert not closed[number].is_set()
            await session.close()
            del session
            assert await asyncio.to_thread(closed[number].wait, 10)
        await driver.close()


def test_every_reason_is_explained() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "harvest" / "drivers").glob("*.py"))
    reasons = {reason for match in REASON.findall(code) for reason in match if reason}
    assert len(reasons) > 25
    explained = set(re.findall(r"`([a-z0-9-]+)`", PAGE.read_text(encoding="utf-8")))
    assert reasons - explained == set()


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
