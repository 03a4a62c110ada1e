"""The labels of answers: what they say, and that they are named in one module only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from protocols.labels import LABELS, MEANINGS, MISSING, NOT_USEFUL, USEFUL, allowed_labels, usefulness
from tests.support.checkout import ROOT

PACKAGES = ("topics", "protocols", "simulators", "recordings", "scoring", "harvest")
OTHER_WORDS = {
    "topics/counting.py": "plurals",
    "harvest/cli/init.py": "how a file is opened",
    "harvest/cli/users/fit.py": "how a file is opened",
    "harvest/drivers/browser.py": "800x600",
    "harvest/drivers/options.py": "what stands for a variable",
    "harvest/pages/browser/window.py": "a place on a page",
    "harvest/pages/chats/composer.py": "a letter that is typed, and taken out again",
    "harvest/pages/sites/site.py": "what stands for a letter",
    "recordings/secrets/bare_text.py": "how numbers in other bases begin",
    "simulators/wrappers/reformulating.py": "what stands for a constraint",
}
"""Modules in which such a letter is something else."""


def test_every_label_has_a_meaning_and_messages_name_it() -> None:
    assert set(MEANINGS) == set(LABELS)
    assert allowed_labels() == "o (useful), x (not useful), - (no such turn)"


@pytest.mark.parametrize(("label", "said"), [("o", "o"), ("x", "x"), (None, "-"), ("-", "-"), ("c", "-")])
def test_only_the_two_labels_say_something_about_usefulness(label: str | None, said: str) -> None:
    assert usefulness(label) == said


def letters(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and node.value in (USEFUL, NOT_USEFUL):
            yield node.value


IN_QUOTES = re.compile(f"""["'}}](?:[{USEFUL}{NOT_USEFUL}]["'{{]|\\\\)""")
"""To parse a module takes long, and most have no such letter, nor an escape that could stand for it."""


def test_no_other_module_writes_a_label() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if IN_QUOTES.search(text := path.read_text(encoding="utf-8")) and any(letters(text))
    }
    assert found == {"protocols/labels.py", *OTHER_WORDS}
    assert MISSING not in LABELS
