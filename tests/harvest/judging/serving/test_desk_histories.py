"""Whatever people do at the desk, in any order, with lost replies and new starts: what they said last stands."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recordings.files.json_text import Json
from recordings.judged.decision_book import DecisionBook
from recordings.judged.decisions import read_decisions
from recordings.judged.judgments import read_layers
from tests.support.checkout import ROOT
from tests.support.judged_page import PEOPLE, desk_of

VALUES = st.sampled_from([0.0, 1.0, None, "unsure"])
STEPS = st.one_of(
    st.tuples(
        st.just("decide"), st.sampled_from(PEOPLE), st.integers(0, 3), st.sampled_from([0.0, 1.0, None, "unsure"])
    ),
    st.tuples(st.just("undo"), st.sampled_from(PEOPLE), st.just(0), st.none()),
    st.tuples(st.just("again"), st.sampled_from(PEOPLE), st.just(0), st.none()),
    st.tuples(st.just("start"), st.just("anna"), st.just(0), st.none()),
)


@given(st.lists(STEPS, max_size=25))
def test_the_last_decision_that_was_not_undone_counts(steps: list[tuple[str, str, int, Json]]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        run = Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", folder / "run"))
        asyncio.run(_follow(run, steps))
    finally:
        shutil.rmtree(folder)


async def _follow(run: Path, steps: list[tuple[str, str, int, Json]]) -> None:
    book = DecisionBook.open(run)
    desk = desk_of(run, book, ["Fluency"])
    asked = sorted(str(one) for one, _ in desk.page_state("anna")["questions"])  # type: ignore[attr-defined]  # a list
    standing: dict[str, list[tuple[str, str, Json]]] = {name: [] for name in PEOPLE}
    sent: dict[str, dict[str, Json]] = {}
    for number, (what, name, which, value) in enumerate(steps):
        known = f"{number:016}"
        if what == "decide":
            sent[name] = {"id": known, "question": asked[which % len(asked)], "value": value, "note": ""}
            await desk.decide(name, sent[name])
            standing[name].append((known, asked[which % len(asked)], value))
        elif what == "undo" and standing[name]:
            sent[name] = {"id": known, "undo": standing[name].pop()[0]}
            await desk.take_back(name, sent[name])
        elif what == "again" and name in sent:
            await (desk.take_back if "undo" in sent[name] else desk.decide)(name, sent[name])
        elif what == "start":
            await book.close()
            book = DecisionBook.open(run)
            desk = desk_of(run, book, ["Fluency"])
        for person in PEOPLE:
            states = {question: [value, ""] for _, question, value in standing[person]}
            work = desk.page_state(person)
            assert work["states"] == states
            assert work["made"] == [[known, question] for known, question, _ in standing[person]]
    await book.close()
    assert [one.id for one in read_decisions(run).standing] == sorted(
        known for person in PEOPLE for known, _, _ in standing[person]
    )
    layers = {layer.author: len(layer.judgments) for layer in read_layers(run) if layer.kind == "human"}
    assert layers == {name: len({one[1] for one in standing[name]}) for name in PEOPLE if standing[name]}
