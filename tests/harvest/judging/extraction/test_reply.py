"""Reading a model's reply: what is taken, and that nothing becomes a nugget that was not said."""

from __future__ import annotations

import asyncio
import json
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.judging.extraction.endpoint_file import read_extraction_endpoint
from harvest.judging.extraction.extracting import MEANINGS, prompt_messages, version_of
from harvest.judging.extraction.reply import NUGGET_FAULTS, REPLY_FAULTS, Reading, read_reply
from scoring.swan.acts import ACTS
from scoring.swan.nugget import place_nuggets
from scoring.words import Passage, word_count
from simulators.outside import Sample
from tests.support.checkout import DOCS

PAGE = (DOCS / "swan.md").read_text(encoding="utf-8")
TEXT = "I’m sorry. It is old, and it is old.\nDo you like it? 東京Towerは高い。 :)"


def passage(text: str = TEXT, speaker: str = "system") -> Passage:
    return Passage(1, speaker, text, 0, word_count(text))


def read(reply: Any, text: str = TEXT, finish: str = "stop") -> Reading:
    written = reply if isinstance(reply, str) else json.dumps({"nuggets": reply})
    return read_reply(Sample(written, finish), passage(text))


def claim(quote: str) -> dict[str, str]:
    return {"quote": quote, "type": "F"}


def test_quotations_become_nuggets_with_their_spans_types_and_acts() -> None:
    found = read(
        [{"quote": "I’m sorry", "type": "O", "act": "APOLOGY"}, claim("It is old"), claim("東京Towerは高い。")]
    )
    assert [(TEXT[one.start : one.end], one.type, one.act, one.rule) for one in found.found] == [
        ("I’m sorry", "O", "APOLOGY", "model"),
        ("It is old", "F", "", "model"),
        ("東京Towerは高い。", "F", "", "model"),
    ]
    assert (found.refused, found.fault) == ({}, "")
    assert len(place_nuggets(passage(), found.found, version="m/1")) == 3


def test_the_second_quotation_of_repeated_words_is_their_second_occurrence() -> None:
    text = "Yes. It is red. Yes. It is red. Yes."
    found = read([claim("Yes"), claim("It is red"), claim("Yes"), claim("It is red"), claim("Yes")], text)
    assert [one.start for one in found.found] == [0, 5, 16, 21, 32]
    once_more = read([claim("Yes")] * 4, text)
    assert ([one.start for one in once_more.found], once_more.refused) == ([0, 16, 32], {"overlap": 1})


def test_quotations_out_of_order_are_accepted_and_sorted_in_text_order() -> None:
    found = read([claim("Do you like it?"), claim("It is old")])
    assert [TEXT[one.start : one.end] for one in found.found] == ["It is old", "Do you like it?"]


def test_white_space_around_a_quotation_is_not_part_of_it() -> None:
    assert [(one.start, one.end) for one in read([claim(" It is old,\n")]).found] == [(11, 21)]


@pytest.mark.parametrize(
    "item",
    [
        "It is old",
        None,
        [],
        {},
        {"quote": "It is old"},
        {"type": "F"},
        {"quote": "", "type": "F"},
        {"quote": "  ", "type": "F"},
        {"quote": 7, "type": "F"},
        {"quote": "It is old", "type": None},
        {"quote": "It is old", "type": "F", "start": 11},
    ],
)
def test_an_invalid_nugget_is_refused(item: Any) -> None:
    assert read([item, claim("it is old")]) == Reading(read([claim("it is old")]).found, {"no-nugget": 1})


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"quote": "It is old", "type": "E"}, "type"),
        ({"quote": "It is old", "type": "f"}, "type"),
        ({"quote": "I’m sorry", "type": "O"}, "act"),
        ({"quote": "I’m sorry", "type": "O", "act": "GRUNT"}, "act"),
        ({"quote": "I’m sorry", "type": "O", "act": "apology"}, "act"),
        ({"quote": "I’m sorry", "type": "O", "act": ["APOLOGY"]}, "act"),
        ({"quote": "It is old", "type": "F", "act": "APOLOGY"}, "act"),
        (claim("It is new"), "not-said"),
        (claim("I'm sorry"), "not-said"),  # another apostrophe
        (claim("It is old, and it is old. Do you like it?"), "not-said"),  # the line break is gone
        (claim("t is ol"), "not-said"),  # inside of words
        (claim("It is ol"), "not-said"),
        (claim("[IT IS OLD]"), "not-said"),
    ],
)
def test_an_impossible_nugget_is_refused_and_counted_and_the_others_are_kept(item: Any, why: str) -> None:
    found = read([item, claim("it is old")])
    assert [TEXT[one.start : one.end] for one in found.found] == ["it is old"]
    assert found.refused == {why: 1}
    assert why in NUGGET_FAULTS


@pytest.mark.parametrize("second", ["It is old", "is old", "It is old, and", "and it is old.\nDo you", "it is"])
def test_a_nugget_that_overlaps_another_is_refused(second: str) -> None:
    found = read([claim("It is old, and it is old."), claim(second)])
    assert ([TEXT[one.start : one.end] for one in found.found], found.refused) == (
        ["It is old, and it is old."],
        {"overlap": 1},
    )


def test_scripts_without_spaces_between_words_can_be_quoted_anywhere() -> None:
    assert len(read([claim("東京"), claim("Tower"), claim("は高い")]).found) == 3


GOOD = json.dumps({"nuggets": [claim("It is old")]})


@pytest.mark.parametrize(
    ("reply", "finish", "fault"),
    [
        (GOOD, "length", "cut"),
        (GOOD, "LENGTH", "cut"),
        (GOOD, "content_filter", "cut"),
        ("", "stop", "not-json"),
        (GOOD[:-5], "stop", "not-json"),
        (f"Here are the nuggets:\n{GOOD}", "stop", "not-json"),
        (f"{GOOD}\nI hope this helps!", "stop", "not-json"),
        (f"```json\n{GOOD}\n```", "stop", "not-json"),
        (f"<think>hm</think>{GOOD}", "stop", "not-json"),
        (f"{GOOD}{GOOD}", "stop", "not-json"),
        ('{"nuggets": [], "nuggets": []}', "stop", "not-json"),
        ('{"nuggets": [{"quote": "It is old", "type": "O", "type": "F"}]}', "stop", "not-json"),
        ('{"nuggets": [NaN]}', "stop", "not-json"),
        ("[" * 100_000, "stop", "not-json"),
        ('{"nuggets": ' + "9" * 5000 + "}", "stop", "not-json"),
        ("[]", "stop", "wrong-shape"),
        ("null", "stop", "wrong-shape"),
        ('"It is old"', "stop", "wrong-shape"),
        ("{}", "stop", "wrong-shape"),
        ('{"nuggets": {}}', "stop", "wrong-shape"),
        ('{"nuggets": [], "note": "none"}', "stop", "wrong-shape"),
        (json.dumps({"nuggets": [claim("It is old")] * 1001}), "stop", "too-many"),
    ],
)
def test_a_reply_in_the_wrong_form_gives_nothing(reply: str, finish: str, fault: str) -> None:
    assert read(reply, finish=finish) == Reading(fault=fault)
    assert fault in REPLY_FAULTS


def test_a_reply_may_say_that_there_is_no_nugget() -> None:
    assert read([]) == Reading()


@given(
    st.text(alphabet="ab Yé東。.\n", max_size=60),
    st.lists(
        st.fixed_dictionaries(
            {"quote": st.text(alphabet="ab Yé東。.\n", max_size=8), "type": st.sampled_from(["F", "O", "E"])},
            optional={"act": st.sampled_from([*ACTS[:3], "NONE", ""])},
        ),
        max_size=12,
    ),
)
def test_every_accepted_nugget_is_in_the_text_without_overlap_and_every_item_is_counted(
    text: str, items: list[dict[str, str]]
) -> None:
    found = read(items, text)
    assert all(text[one.start : one.end] == one.text for one in found.found)
    assert all(one.end <= two.start for one, two in pairwise(found.found))
    assert len(found.found) + sum(found.refused.values()) == len(items)
    assert len(place_nuggets(passage(text), found.found, version="m/1")) == len(found.found)


@given(st.text(max_size=200), st.text(max_size=20))
def test_no_reply_makes_the_reader_fail(reply: str, finish: str) -> None:
    read(reply, finish=finish)


@pytest.mark.parametrize(("letters", "bound"), [(20_000, 10), pytest.param(60_000, 20, marks=pytest.mark.soak)])
def test_hostile_replies_take_bounded_time(letters: int, bound: float) -> None:
    text = "a" * letters + " a" * (letters // 2)
    began = time.process_time()
    read([claim("a" * length) for length in range(1, 1001)], text)
    read([claim("a")] * 1000, text)
    assert time.process_time() - began < bound


def test_the_prompt_names_every_act_and_shows_the_whole_passage_and_its_context() -> None:
    earlier = [passage(f"word {number} " + "x" * 5000, "user") for number in range(30)]
    system, user = prompt_messages(passage('Say "no".\n{"nuggets": []}'), earlier)
    assert all(f"- {name}: " in system.text for name in ACTS)
    assert tuple(MEANINGS) == ACTS
    shown = json.loads(user.text)
    assert shown["passage"] == {"speaker": "system", "text": 'Say "no".\n{"nuggets": []}'}
    assert [one["text"][:7].strip() for one in shown["earlier"]] == [f"word {number}" for number in range(20, 30)]
    assert max(len(one["text"]) for one in shown["earlier"]) < 4010


def test_the_example_in_the_prompt_is_a_readable_reply() -> None:
    system, _ = prompt_messages(passage(), [])
    (example,) = [line for line in system.text.splitlines() if line.startswith('{"nuggets": [{')]
    found = read(example, "I'm sorry, it is 9 pages long.")
    assert ([one.act for one in found.found], found.refused) == (["APOLOGY", ""], {})


@pytest.mark.parametrize(("name", "meaning"), [*REPLY_FAULTS.items(), *NUGGET_FAULTS.items()])
def test_the_page_lists_every_reason_for_refusing(name: str, meaning: str) -> None:
    assert f"| `{name}` | {meaning} |" in PAGE


def test_the_file_on_the_page_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```yaml\n(format: harvest-endpoints/1\n.*?)```", PAGE, re.DOTALL)
    monkeypatch.setenv("NUGGETS_KEY", "sk-of-the-page")
    file = tmp_path / "endpoints.yaml"
    file.write_text(block, encoding="utf-8")
    endpoint = read_extraction_endpoint(file, None, set())
    assert (endpoint.name, endpoint.definition()["model"]) == ("nuggets", "llama")
    asyncio.run(endpoint.close())


def test_the_version_changes_with_the_sampling_options() -> None:
    settings = {"model": "m1", "temperature": 0.0, "seed": True}
    version = version_of(settings)
    assert len(version) == 16
    assert version == version_of(dict(reversed(settings.items())))
    assert len({version, version_of({**settings, "temperature": 0.1}), version_of({**settings, "model": "m2"})}) == 3
