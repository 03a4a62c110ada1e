"""docs/glossary.md defines each term of the program once, in order, and its links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

import protocols
import recordings
import simulators
import topics
from recordings.conversations.conversation import INVALID, Outcome
from recordings.events.events import Event
from recordings.judged import judgments
from scoring.measures.usefulness import NOT_ASKED, UNLABELLED
from scoring.stochastic.chain import STATES
from tests.support.checkout import DOCS

PAGE = (DOCS / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
NO_TERMS = {
    # What Python needs and no reader of a score does.
    *("HarvestError", "InputError", "Place", "RunError", "RunWriter", "TreeBuilder", "Streams", "TrialKey", "Chance"),
    *("EnumerableUser", "ScriptedUser", "Say", "Stop", "Sight", "Verdict"),
}


def _words(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def _defined(term: str) -> str:
    found = re.search(rf"^## {re.escape(term)}\n\n(.+?)(?=\n\n## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, term
    return found[1]


def _links() -> Iterator[tuple[str, str]]:
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        path, _, anchor = target.partition("#")
        yield path, anchor


def test_terms_are_in_order_and_each_is_defined_once() -> None:
    assert sorted(set(TERMS), key=lambda term: (term.replace("`", "").lower(), term)) == TERMS
    for term in TERMS:
        assert _defined(term).strip().endswith("."), term


def test_every_kind_of_outcome_is_defined_as_one() -> None:
    said = str(Outcome.__doc__).split("first of these that applies")[1].split("`reason` is")[0]
    kinds = re.findall(r"`([a-z-]+)`", said)
    assert len(kinds) == 7
    assert INVALID in kinds
    for kind in kinds:
        assert _defined(kind).startswith("An outcome:"), kind
        assert f"`{kind}`" in _defined("outcome"), kind


def test_every_label_and_kind_of_layer_is_defined() -> None:
    assert {NOT_ASKED, UNLABELLED, "o", "x", "-"} == set(STATES)
    for label in STATES:
        assert f"label `{label}`" in TERMS, label
        assert f"label `{label}`" in _defined("label"), label
    assert all(f"`{kind}`" in _defined("layer") for kind in judgments.KINDS)


def test_every_kind_of_event_is_defined() -> None:
    kinds = [re.findall(r"`([a-z-]+)`", str(one.__doc__))[0] for one in get_args(Event)]
    assert len(kinds) == 8
    for kind in ("opened", *kinds):
        assert f"event `{kind}`" in TERMS, kind


def test_every_term_that_a_package_exports_is_defined() -> None:
    for package in (topics, protocols, recordings, simulators):
        for name in package.__all__:
            if name[0].isupper() and name not in NO_TERMS:
                words = {"SystemTurn": "turn"}.get(name, _words(name))
                assert words in TERMS, name


def test_every_link_leads_to_a_page_and_a_heading() -> None:
    assert len(list(_links())) > 20
    for path, anchor in _links():
        text = (DOCS / path).read_text(encoding="utf-8")
        headings = [
            re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.+)$", text, re.M)
        ]
        assert not anchor or anchor in headings, (path, anchor)


def test_no_line_is_longer_than_120_characters() -> None:
    assert [line for line in PAGE.splitlines() if len(line) > 120] == []
