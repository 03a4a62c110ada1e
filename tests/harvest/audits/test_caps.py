"""Caps of an audit and of the command line, prices, and what is refused before anything is sent."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from harvest.audits.audit import load_audit
from recordings.log.caps import Caps, Price
from tests.support.metered import write_audit
from topics.errors import InputError


def audit(folder: Path, **changes: Any) -> Path:
    value = yaml.safe_load(write_audit(folder).read_text())
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump({**value, **changes}, sort_keys=False))
    return path


def test_the_command_line_replaces_caps_of_the_file_kind_by_kind(tmp_path: Path) -> None:
    path = str(audit(tmp_path, max_cost=5, max_turns=300))
    prices = {"A": Price(1000, 2000), "B": Price(turn=0.25)}
    assert load_audit(path).caps == Caps({"cost": 5, "turns": 300}, prices)
    assert load_audit(path, caps={"turns": 70, "tokens": 9}).caps == Caps({"cost": 5, "turns": 70, "tokens": 9}, prices)
    assert load_audit(str(audit(tmp_path))).caps is None


def test_a_system_without_a_price_has_the_prices_for_scoring(tmp_path: Path) -> None:
    scoring = {"input_prices": {"A": 3, "B": 4}, "output_prices": {"A": 5}}
    path = str(audit(tmp_path, prices={"B": {"turn": 0}}, scoring=scoring, max_cost=1))
    assert load_audit(path).caps == Caps({"cost": 1}, {"A": Price(3, 5), "B": Price(turn=0)})


WORDS = {"words": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_cost": 0}, r"audit\.yaml:\d+:11: max_cost"),
        ({"max_turns": 2.5}, r"audit\.yaml:\d+:12: max_turns"),
        (
            {"max_cost": 1, "prices": {"A": {"turn": 1}}},
            r"audit\.yaml:\d+:11: max_cost needs the price of 'B'\n  do: add",
        ),
        ({"max_cost": 1, "endpoints": WORDS}, "max_cost needs the price of 'words'"),
        ({"prices": {"AA": {"turn": 1}}}, r"audit\.yaml:\d+:3: there is no system or endpoint 'AA'.*\n  allowed: A, B"),
        ({"prices": {"A": {"input": 1}}}, r"this is not a whole price\n  allowed: \{input: 0\.15, output: 0\.6\} for"),
        ({"prices": {"A": {"input": 1, "output": 1, "turn": 1}}}, "this is not a whole price"),
        ({"prices": {"A": {}}}, "this is not a whole price"),
        ({"prices": {"A": {"turn": -1}}}, "greater than or equal to 0|at least 0|from 0"),
        ({"endpoints": {"A": WORDS["words"]}}, "'A' is a system and an endpoint, so it is not clear whose price"),
    ],
)
def test_an_invalid_cap_or_price_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_audit(str(audit(tmp_path, **changes)))


def test_a_price_that_only_the_command_line_needs_is_reported_as_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^max_cost needs the price of 'A'"):
        load_audit(str(audit(tmp_path, prices={})), caps={"cost": 5})


def test_a_driver_that_never_reports_tokens_is_refused_at_the_start(tmp_path: Path) -> None:
    systems = [{"name": "P", "driver": "parrot"}]
    path = str(audit(tmp_path, systems=systems, prices={"P": {"input": 1, "output": 1}}))
    for caps in ({"tokens": 5000.0}, {"cost": 5.0}):
        with pytest.raises(
            InputError, match="cannot be kept for 'P': the driver 'parrot' does not report tokens\n  do: use max_turns"
        ):
            load_audit(path, caps=caps)
    assert load_audit(path, caps={"turns": 5000}).caps == Caps({"turns": 5000})
    page = {"url": "http://127.0.0.1:9/chat", "body": {"text": "{{ text }}"}, "reply": "$.text"}
    for tokens, refused in (({}, True), ({"tokens": "$.usage"}, False)):
        api = [{"name": "P", "driver": "http", "options": {**page, **tokens}}]
        path = str(audit(tmp_path, systems=api, prices={}))
        with pytest.raises(InputError, match="'http' does not report") if refused else nullcontext():
            assert load_audit(path, caps={"tokens": 5000}).caps == Caps({"tokens": 5000})
    path = str(audit(tmp_path, systems=systems, prices={"P": {"turn": 1}}))
    assert load_audit(path, caps={"cost": 5}).caps == Caps({"cost": 5}, {"P": Price(turn=1)})
