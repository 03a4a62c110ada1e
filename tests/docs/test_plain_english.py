"""What people read is written in plain English: none of the idioms that made readers stumble comes back."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harvest.cli.commands import COMMANDS
from harvest.cli.parameters import WHOLE
from tests.support.checkout import DOCS, ROOT

PLAIN = {
    r"tells? it all": "explains it",
    r"reckon\w*": "computed",
    r"(?<!-)anew": "again",
    r"mend(?:s|ed|ing)?": "corrected, repaired",
    r"whoever": "anyone who",
    r"(?<!there )(?:is|are) none": "does not count",
    r"nobody (?:knows|judged|is asked)": "unknown, unjudged",
    r"somebody says otherwise": "unless set otherwise",
    r"(?:is|are) left alone": "is not contacted again",
    r"(?:is|was) told (?:by|from|in|of|where)": "is explained in, is recognised by",
    r"put(?:ting)? up with": "tolerates",
    r"hold(?:s|ing)? the truth": "covers the true value",
    r"takes? (?:\w+ ){1,4}for whole": "considers complete",
    r"(?:taken|takes) for (?:one|whole|independent)": "treated as",
    r"is no (?:answer|key|part|CSS|JSON|bound|dependency|plan|fault)": "is not a",
    r"stands? (?:alone )?(?:beside|still in)": "is next to",
    r"sets? .{1,40} beside": "compares with",
    r"the user within": "the wrapped user",
    r"(?:as|than) ever": "as usual",
    r"asks nobody": "contacts no system",
    r"tells? the rest": "see",
    r"lets? nobody": "does not allow",
    r"a strange?r's (?:URL|text)": "any text",
    r"(?:is|are) not looked at": "is not checked",
    r"goes? by p\b": "is decided by p",
    r"gone on with": "resumed",
    r"side bars? cuts? away": "hidden in a side bar",
}
"""By idiom, as a regular expression: what to write instead."""
WORST = re.compile("|".join(rf"\b(?:{idiom})\b" for idiom in PLAIN), re.IGNORECASE)
FOUND_ONLY_IN_CODE = re.compile(r"^```.*?^```|<!-- [a-z]+:.*?<!-- end -->", re.MULTILINE | re.DOTALL)
ERRORS = {"InputError", "RunError", "HarvestError", "NotSent", "Unanswered", "Denied"}
SOURCES = sorted(
    path
    for folder in ("harvest", "topics", "protocols", "recordings", "scoring", "simulators")
    for path in (ROOT / folder).rglob("*.py")
)
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def _plain(idiom: str) -> str:
    return next(plain for pattern, plain in PLAIN.items() if re.fullmatch(pattern, idiom, re.IGNORECASE))


def _found(text: str) -> list[str]:
    return [f"{said[0]!r}: write {_plain(said[0])!r}" for said in WORST.finditer(" ".join(text.split()))]


def _messages() -> Iterator[tuple[str, str]]:
    """The literal words of errors that people read, with the place of each."""
    for source in SOURCES:
        for call in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in ERRORS:
                for part in ast.walk(call):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield f"{source.relative_to(ROOT)}:{part.lineno}", part.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_english(page: Path) -> None:
    prose = FOUND_ONLY_IN_CODE.sub("", page.read_text(encoding="utf-8"))
    assert _found(prose) == []


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name, entry in COMMANDS.items():
        if entry.commands:
            continue
        command: click.Command = importlib.import_module(entry.module).command
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())


def test_help_is_in_plain_english() -> None:
    for name, command in _commands():
        with click.Context(command, info_name=name) as context:
            context.meta[WHOLE] = True
            assert _found(command.get_help(context)) == [], name


def _docstrings() -> Iterator[tuple[str, str]]:
    """The prose of all docstrings, with the place of each: without code, and without "there is no …" and None."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                yield (
                    f"{source.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}",
                    re.sub(r"`[^`]*`|\bthere is no\b|\bNone\b", "", text),
                )


def test_docstrings_are_in_plain_english() -> None:
    assert [(place, words) for place, text in _docstrings() for words in _found(text)] == []


def test_messages_are_in_plain_english() -> None:
    assert [(place, words) for place, text in _messages() for words in _found(text)] == []
