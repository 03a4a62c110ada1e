"""A measure is known by its declaration: no other file holds its name as a string.

Where one is truly needed, code imports the declaration and takes its name. So a measure can be added, renamed or
removed in one file, and nothing forgets it. Prose that mentions a measure within a sentence is no such string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from scoring.divergences import DIVERGENCES
from scoring.library import OF_CONVERSATIONS, OF_LISTS, OF_PREDICTORS
from scoring.measure import Declaration

ROOT = Path(__file__).parents[2]
PACKAGES = ("topics", "protocols", "recordings", "simulators", "scoring", "harvest")

NAMES = {one.name for one in (*OF_CONVERSATIONS, *OF_LISTS, *OF_PREDICTORS)} - DIVERGENCES.keys()
"""Divergences are no measures by themselves: what is taken of them carries their names."""

_BEGINS = re.compile(r"([\w%-]+)(?=$|[(,:]| S\d)")
_IN_QUOTES = re.compile(rf"""["'}}](?:{"|".join(map(re.escape, NAMES))}|\\)(?![\w%-])""")
"""To parse a module takes long, and few have such a name after a quotation mark or a value put in, or an escape that
could begin one."""

ANOTHER_THING = {
    "a turn's outcome, of a protocol or a recording": {
        ("protocols/reading.py", "breakdown"),
        ("recordings/acts/dialogue.py", "breakdown"),
        ("recordings/conversations/endings.py", "breakdown"),
        ("recordings/log/turn_counts.py", "breakdown"),
        ("recordings/formats/transcript_turns.py", "breakdown"),
    },
    "a probability, and the rate of a kind of fault": {
        ("harvest/studies/pairs/conversation_rows.py", "P("),
        ("harvest/studies/pairs/conversation_rows.py", "P(leaving) = "),
        ("harvest/studies/validity/user_card_figures.py", "rate"),
    },
    "the key that chooses the right one of two conversations": {("harvest/judging/serving/desk.py", "R")},
    "the sign of a registered trade mark, as a page raises it": {("harvest/pages/reading/formula.py", "R")},
    "the larger of two numbers, in a formula": {("scoring/measures/relevance.py", "max(0, 1 - (WC(n) - 1)/L)")},
    "the command of that name, the key of its files, their option, and the seed of its draws": {
        ("recordings/formats/dbdc.py", "breakdown"),
        ("recordings/formats/dbdc.py", "breakdown"),
        ("harvest/cli/metrics/breakdown.py", "breakdown"),
        ("harvest/cli/data/importing.py", "breakdown"),
        ("harvest/cli/commands.py", "breakdown"),
        ("scoring/annotations/breakdown_files.py", "breakdown"),
        ("scoring/annotations/breakdown_scores.py", "breakdown"),
        ("harvest/studies/breakdown/detection.py", "breakdown"),
        ("protocols/breakdown/familiarity.py", "breakdown"),
        ("protocols/breakdown/training.py", "breakdown"),
    },
    "the rule of protocols and of schemas by which a turn breaks a dialogue down": {
        ("protocols/rules/registry.py", "breakdown"),
        ("simulators/probing/items.py", "breakdown"),
        ("scoring/swan/rules/breakdown.py", "breakdown"),
    },
    "a unit of time, and the pace of a system": {
        ("harvest/audits/system.py", "min"),
        ("harvest/audits/system.py", "rate"),
    },
    "a setting": {
        ("scoring/rankings/list_scores.py", "persistence"),
        ("scoring/swan/weighting.py", "rate"),
    },
    "what a cap of a run is on": {
        ("recordings/log/caps.py", "cost"),
        ("harvest/audits/caps.py", "cost"),
        ("harvest/cli/caps.py", "cost"),
    },
    "a letter for a number in a help": {("harvest/cli/tree.py", "P")},
    "what probes find out, which has a table of its own": {
        ("simulators/probing/cases.py", "accuracy"),
        ("harvest/studies/probes/rows.py", "accuracy"),
    },
}


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string that is no docstring and no exported name."""
    tree = ast.parse(source)
    passed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(node.value)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                passed.update(part for part in ast.walk(node.value) if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed:
            yield node.lineno, node.value


def named(text: str) -> str:
    """The measure that a string begins with, as its name, its written form or the head of a list; "" for none."""
    found = _BEGINS.match(text)
    return found[1] if found is not None and found[1] in NAMES else ""


def declared_in() -> dict[str, set[str]]:
    """By name of a measure the files that declare it."""
    found: dict[str, set[str]] = {}
    for folder in ("measures", "forms"):
        for path in (ROOT / "scoring" / folder).glob("*.py"):
            module = import_module(f"scoring.{folder}.{path.stem}")
            own = [value for value in vars(module).values() if isinstance(value, Declaration)]
            own += [
                one
                for value in vars(module).values()
                if isinstance(value, tuple)
                for one in value
                if isinstance(one, Declaration)
            ]
            text = path.read_text(encoding="utf-8")
            for one in own:
                if f'"{one.name}"' in text:
                    found.setdefault(one.name, set()).add(str(path.relative_to(ROOT)))
    return found


def test_only_its_own_file_contains_the_name_of_a_measure_as_a_string() -> None:
    own = declared_in()
    assert own.keys() >= NAMES
    allowed = {place for places in ANOTHER_THING.values() for place in places}
    hits, used = [], set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            where, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
            for line, text in strings(source) if _IN_QUOTES.search(source) else ():
                name = named(text)
                if not name or where in own[name]:
                    continue
                if (where, text) in allowed:
                    used.add((where, text))
                else:
                    hits.append(f"{where}:{line}: {text[:60]!r}")
    assert hits == []
    assert used == allowed, "what is allowed and not there any more"


@pytest.mark.parametrize(
    "text",
    ["R", "GF(RATINGS)", "P(", "pooled(GF", "%useful S1", "R, GF, GF(SET)", "R: relevance", "CVaR(R, beta=0.25)"],
)
def test_a_string_that_means_a_measure_is_found(text: str) -> None:
    assert named(text)
    ((_, found),) = strings(f"x = {text!r}")
    assert found == text


@pytest.mark.parametrize(
    "text", ["Recall of nuggets", "SWAN and WAN rest on", "R2", "minimum", "Refused", "pooled over all"]
)
def test_words_that_only_look_like_one_are_not(text: str) -> None:
    assert not named(text)


def test_docstrings_and_exported_names_are_skipped() -> None:
    assert list(strings('"""R."""\n__all__ = ["R"]\n__all__ += ["P"]\ndef f():\n    "SWAN"\n')) == []
