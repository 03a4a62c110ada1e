"""The pages of the llm and the human user: what they show was printed by the program, and the plot is up to date."""

from __future__ import annotations

import importlib.util
import json
import re

import yaml

from harvest.voices.endpoint import EndpointOptions
from simulators.llm.acceptance import REFUSED
from simulators.llm.user import Options
from simulators.registry import build_user
from simulators.user import Scenario, Streams
from tests.support.checkout import DOCS
from tests.support.enumerable_users import MOVIES
from topics.document import parse_document

PAGES = DOCS / "simulators"
PAGE = (PAGES / "llm.md").read_text(encoding="utf-8")


def test_the_plot_is_the_one_that_the_program_draws() -> None:
    spec = importlib.util.spec_from_file_location("draw_llm", PAGES / "draw_llm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (PAGES / "llm.svg").read_text(encoding="utf-8") == module.FIGURES["llm.svg"]()
    assert "](llm.svg)" in PAGE


def test_every_reason_for_which_a_sample_is_refused_is_on_the_page_in_order() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", PAGE.split("## What is refused")[1], re.MULTILINE)
    assert rows[: len(REFUSED)] == list(REFUSED.items())


def test_every_option_is_on_the_page_with_its_default() -> None:
    shown = PAGE.split("## Parameters")[1].replace(",", "")
    for name, field in Options.model_fields.items():
        row = re.search(rf"^\| `{name}` \| `?([^|]+?)`? \|", shown, re.MULTILINE)
        assert row is not None, name
        if isinstance(field.default, (int, str)):
            assert row[1] == str(field.default), name
        assert field.description is not None
        assert field.description.replace(",", "") in shown, name
    for name in EndpointOptions.model_fields:
        assert f"`{name}`" in shown, name


def test_the_examples_are_accepted() -> None:
    users, endpoints = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
    user = build_user(parse_document(json.dumps(users["users"]["visitor"]), "page.yaml"))
    assert user.start(Scenario(MOVIES), Streams(1)).persona == "A retired teacher who types fast."
    EndpointOptions.model_validate(endpoints["endpoints"]["words"])


def test_the_words_of_the_human_page_are_those_of_the_program() -> None:
    page = (PAGES / "human.md").read_text(encoding="utf-8")
    for word in ("person-left", "/stop", "`human`", "`say`"):
        assert word in page
