"""docs/browser.md: its table of reasons is all there are, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import get_args

from harvest.drivers.browser import EvidenceKind
from harvest.pages.browser.busy_signs import FIRM, LOOSE
from harvest.pages.browser.call_guard import END_REASONS
from harvest.pages.chats.opening import WALLS
from harvest.studies.relabel.rerouting import PARTED_REASON
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8")
SOURCES = [
    *(ROOT / "harvest" / "pages").glob("*/*.py"),
    ROOT / "harvest" / "drivers" / "browser.py",
]
KINDS = {"NotSent", "Unanswered", "Denied"}
SHAPE = re.compile(r"(?:page|frame|browser)-[a-z]+")
"""Of reasons that are not written where they are raised."""


def _reasons() -> Iterator[str]:
    yield from WALLS
    yield from END_REASONS
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                if node.args and isinstance(node.args[0], ast.Constant):
                    yield str(node.args[0].value)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SHAPE.fullmatch(node.value):
                yield node.value
            elif isinstance(node, ast.Assign) and any(_named(target, "detail") for target in node.targets):
                # The sentences of what waiting came to, by reason.
                for inner in ast.walk(node.value):
                    if isinstance(inner, ast.Dict):
                        yield from (str(key.value) for key in inner.keys if isinstance(key, ast.Constant))


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _explained() -> list[str]:
    table = PAGE[PAGE.index("| reason | kind |") :]
    rows = [row for row in table.splitlines()[2:] if row.startswith("|")]
    return [reason for row in rows for reason in re.findall(r"`([a-z-]+)`", row.split("|")[1])]


def test_every_reason_is_explained_once_and_no_unknown_one_is_explained() -> None:
    explained = _explained()
    assert sorted(explained) == sorted(set(explained))
    assert set(explained) == set(_reasons())
    assert len(explained) > 25


def test_every_sign_and_exhibit_is_explained() -> None:
    for name in (*FIRM, *LOOSE, *get_args(EvidenceKind)):
        assert re.search(rf"^\|[^|]*`{name}`", PAGE, re.MULTILINE), name
    assert f"`{PARTED_REASON}`" in PAGE
