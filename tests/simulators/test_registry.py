"""Simulators by name: those that come along, those that others add, and names that are none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

from harvest.audits.audit import load_audit
from recordings.log.continuation import differences
from simulators.conformance import assert_conforms
from simulators.registry import GROUP, SIMULATORS, build_user, plug_ins, simulator
from simulators.user import Scenario
from tests.support.recorded_run import record
from topics.document import Document, StrictModel, read_document
from topics.errors import InputError
from topics.library import load_topics

SCENARIO = Scenario(load_topics("fairweb-45")["M002"])
MODULE = """
from dataclasses import dataclass
from simulators.random import Options as Inner, build as built
from topics.document import StrictModel

class Options(StrictModel):
    leave: float = 0.5

def build(options):
    return built(Inner(leave=options.leave))
"""


def described(value: dict[str, object]) -> Document:
    return Document("p.yaml", value, {}, {})


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution that adds the simulators `harvest_coin` (sound) and `harvest_broken` (not there)."""
    (tmp_path / "harvest_coin_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [
        EntryPoint("coin", "harvest_coin_module:build", GROUP),
        EntryPoint("broken", "harvest_no_such_module:build", GROUP),
        EntryPoint("unbuilt", "harvest_coin_module:no_such_function", GROUP),
    ]
    monkeypatch.setattr("topics.plug_ins.entry_points", lambda group: [one for one in found if one.group == group])
    plug_ins.cache_clear()
    yield
    plug_ins.cache_clear()
    sys.modules.pop("harvest_coin_module", None)


@pytest.mark.parametrize("name", SIMULATORS)
def test_every_shipped_name_leads_to_options_and_a_build(name: str) -> None:
    found = simulator(name)
    assert issubclass(found.options, StrictModel)
    assert found.over == {
        "llm": "may",
        "paraphrasing": "must",
        "persona": "must",
        "pressing": "must",
        "reformulating": "must",
    }.get(name, "never")


def test_a_simulator_of_another_distribution_is_built_and_conforms(added: None) -> None:
    assert_conforms(build_user(described({"simulator": "coin", "leave": 0.6})), [SCENARIO])
    with pytest.raises(InputError, match=r"unknown key 'leav': did you mean 'leave'\?"):
        build_user(described({"simulator": "coin", "leav": 0.6}))
    with pytest.raises(InputError, match=r"no simulator 'coyn': did you mean 'coin'\?"):
        build_user(described({"simulator": "coyn"}))


@pytest.mark.parametrize("name", ["broken", "unbuilt"])
def test_a_plug_in_that_cannot_be_loaded_is_named_with_its_source(name: str, added: None) -> None:
    with pytest.raises(InputError, match=rf"the simulator '{name}' of harvest_\w+:\w+ cannot be loaded"):
        build_user(described({"simulator": name}))


def test_a_plug_in_cannot_take_an_existing_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topics.plug_ins.entry_points", lambda group: [EntryPoint("markov", "elsewhere:build", group)])
    plug_ins.cache_clear()
    with pytest.raises(InputError, match=r"two simulators are called 'markov'; one is from elsewhere:build"):
        simulator("random")
    plug_ins.cache_clear()


def test_a_wrapper_needs_an_inner_user_and_nothing_else_does() -> None:
    built = build_user(
        described(
            {
                "simulator": "paraphrasing",
                "typos": 0.1,
                "over": {"simulator": "reformulating", "over": {"simulator": "random"}},
            }
        )
    )
    assert_conforms(built, [SCENARIO], seeds=2)
    with pytest.raises(InputError, match="'paraphrasing' wraps another user, but none is given"):
        build_user(described({"simulator": "paraphrasing", "typos": 0.1}))
    with pytest.raises(InputError, match="'markov' does not wrap another user"):
        build_user(described({"simulator": "markov", "over": {"simulator": "random"}}))


@pytest.mark.parametrize(
    ("value", "option"), [("recorded", "run"), ("replay", "run"), ("fitted", "file")], ids=lambda value: value
)
def test_an_invalid_file_or_run_is_reported_at_the_line_that_names_it(tmp_path: Path, value: str, option: str) -> None:
    protocol = tmp_path / "users.yaml"
    protocol.write_text(f"simulator: {value}\n{option}: nowhere\n", encoding="utf-8")
    with pytest.raises(InputError, match="nowhere: ") as raised:
        build_user(read_document(protocol))
    assert raised.value.place is not None
    assert (raised.value.place.path, raised.value.place.line) == (str(protocol), 2)


PROTOCOL = """
format: harvest-protocol/1
name: again
version: 1
turn_limit: 3
users:
  visitor: {simulator: paraphrasing, typos: 0.1, over: {simulator: recorded, run: past}}
rules:
  any: {words: {at_least: 1}}
start: talk
states:
  talk:
    user: visitor
    edges:
      - {if: any, label: o, go: talk}
      - {otherwise: true, label: x, stop: breakdown}
"""


async def test_a_run_does_not_continue_with_a_user_whose_file_has_changed(tmp_path: Path) -> None:
    await record(tmp_path / "past", ["Hello there, how are you?"], trials=2)
    file = tmp_path / "again.yaml"
    file.write_text(PROTOCOL)
    audit = {
        "format": "harvest-audit/1",
        "name": "again",
        "topics": "fairweb-45",
        "only": ["M002"],
        "protocol": "again.yaml",
        "trials": 1,
        "systems": [{"name": "parrot", "driver": "parrot"}],
    }
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(audit))
    before = load_audit(str(tmp_path / "audit.yaml")).header()
    assert differences(before, load_audit(str(tmp_path / "audit.yaml")).header()) == []
    shutil.rmtree(tmp_path / "past")
    await record(tmp_path / "past", ["Hello there, who are you?"], trials=2)
    (said, *_) = differences(before, load_audit(str(tmp_path / "audit.yaml")).header())
    assert "the content of the file of user visitor.over.run" in said
