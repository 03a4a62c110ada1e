"""How many of what: one place makes plurals, and one is never many."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.checkout import ROOT
from topics.counting import plural, pluralize


@pytest.mark.parametrize(
    ("n", "one", "shown"),
    [
        (0, "trial", "0 trials"),
        (1, "trial", "1 trial"),
        (2, "trial", "2 trials"),
        (1, "judged entity", "1 judged entity"),
        (7, "judged entity", "7 judged entities"),
        (3, "reply", "3 replies"),
        (3, "survey", "3 surveys"),
        (3, "branch", "3 branches"),
        (12_345, "conversation", "12,345 conversations"),
    ],
)
def test_a_number_is_followed_by_its_noun_in_the_right_form(n: int, one: str, shown: str) -> None:
    assert pluralize(n, one) == shown


def test_an_irregular_plural_is_given() -> None:
    assert (pluralize(1, "person", "people"), pluralize(2, "person", "people")) == ("1 person", "2 people")
    assert plural("analysis") == "analysises", "so it must be given"


NOUNS = "answer attempt conversation dialogue nugget system topic trial turn user variant"
LAST = re.compile(rf" ({'|'.join(map(plural, NOUNS.split()))})\b")


def test_no_command_builds_its_own_plural_after_a_number() -> None:
    """`1 trials` comes of a number in front of a noun that is always many."""
    found = []
    for path in sorted((ROOT / "harvest" / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                for before, after in zip(node.values, node.values[1:]):
                    counts = isinstance(before, ast.FormattedValue) and before.format_spec is None
                    text = after.value if isinstance(after, ast.Constant) else None
                    if counts and isinstance(text, str) and LAST.match(text):
                        found.append(f"{path.name}:{node.lineno}: {text}")
    assert found == []
