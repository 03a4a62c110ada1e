"""`harvest check` says which rules do not know the language of an audit's topics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols.library import load_protocol
from protocols.rules.declining import LANGUAGES
from protocols.rules.registry import languages_known
from tests.support.command_line import harvest

REQUESTS = {
    "da": "Hvad koster det at låne penge til en ny bil hos jer, og hvor længe skal jeg betale?",
    "da2": "Hvor høj er renten på et lån over fem år i jeres bank lige nu?",
    "de": "Wie hoch sind die Zinsen für einen Kredit über fünf Jahre bei Ihnen?",
    "en": "What does a loan for a new car cost me each month at this bank?",
    "ja": "五年間のローンの金利はいくらですか、そして毎月の返済額はいくらになりますか。",
    "numbers": "7 + 8 = ?",
}


def check(folder: Path, topics: list[str], edge: str, *words: str) -> str:
    kind = {"loan": {"asks_for": "a loan"}}
    given = [{"id": name, "type": "loan", "request": REQUESTS[name]} for name in topics]
    value = {"format": "harvest-topics/1", "name": "bank", "types": kind, "topics": given}
    (folder / "topics.yaml").write_text(json.dumps(value))
    (folder / "protocol.yaml").write_text(
        "format: harvest-protocol/1\nname: bank\nversion: 1\nrules: {lost: {any: [{empty: {}}, {refusal: {}}]}}\n"
        f'start: ask\nstates: {{ask: {{say: "{{{{ topic.request }}}}", edges: [{edge}, '
        "{otherwise: true, label: o, stop: completed}]}}\n"
    )
    (folder / "bot.py").write_text("def answer(text):\n    return text\n")
    (folder / "audit.yaml").write_text(
        "format: harvest-audit/1\nname: bank\ntopics: topics.yaml\nprotocol: protocol.yaml\ntrials: 1\n"
        "systems: [{name: A, driver: python, options: {function: 'bot.py:answer'}}]\n"
    )
    done = harvest("check", "audit.yaml", *words, cwd=folder, width=400)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_topics_in_languages_that_a_rule_does_not_know_are_counted(tmp_path: Path) -> None:
    edge = "{if: lost, label: x, stop: breakdown}"
    told = " ".join(check(tmp_path, list(REQUESTS), edge).split())
    assert (
        f"note: the rule refusal knows {len(LANGUAGES)} languages only, and 2 of 6 topics are in other languages "
        "(Danish: 2): add what such answers say there, as {contains: {phrases: […]}}"
    ) in told
    found = json.loads(check(tmp_path, list(REQUESTS), edge, "--json"))["languages_unknown_to_rules"]
    assert found == {"refusal": {"knows": list(LANGUAGES), "topics": {"da": 2}}}


@pytest.mark.parametrize(
    ("topics", "edge"),
    [
        (["de", "en", "ja", "numbers"], "{if: lost, label: x, stop: breakdown}"),
        (["da"], "{if: {empty: {}}, label: x, stop: breakdown}"),
    ],
)
def test_there_is_no_note_if_all_languages_are_known_or_no_edge_asks_a_rule(
    topics: list[str], edge: str, tmp_path: Path
) -> None:
    assert "in other languages" not in check(tmp_path, topics, edge)
    assert json.loads(check(tmp_path, topics, edge, "--json"))["languages_unknown_to_rules"] == {}


def test_error_messages_are_known_in_english_only(tmp_path: Path) -> None:
    edge = "{if: {error_page: {}}, label: x, stop: breakdown}"
    found = json.loads(check(tmp_path, ["en", "ja", "de"], edge, "--json"))["languages_unknown_to_rules"]
    assert found == {"error_page": {"knows": ["en"], "topics": {"ja": 1, "de": 1}}}


def test_rules_within_rules_are_found() -> None:
    protocol = load_protocol("fairweb-two-round")
    assert languages_known(protocol.rules["inadequate"]) == {"error_page": ("en",), "refusal": LANGUAGES}
    assert languages_known(protocol.rules["useful"]) == {}
