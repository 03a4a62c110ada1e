"""A conversation is the same whether each call of a model repeats all of it, its last messages, or nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from recordings.formats.importers import IMPORTERS, Request
from tests.support.shape_examples import said

WORDS = st.sampled_from(["Yes.", "No.", "Hello.", "And today?", "1"])
TURNS = st.lists(st.tuples(WORDS, WORDS, st.integers(0, 12)), min_size=1, max_size=6)


@given(TURNS, st.booleans(), st.randoms(use_true_random=False))
def test_the_history_that_calls_repeat_is_read_once(
    turns: list[tuple[str, str, int]], prompted: bool, rng: Random
) -> None:
    history: list[dict[str, object]] = []
    calls = []
    for at, (asked, answered, repeated) in enumerate(turns):
        question = said("user", asked)
        given = [*history[max(0, len(history) - 2 * repeated) :], question]
        prompt = [said("system", "Be kind.")] if prompted else []
        stamp = f"2026-03-01T10:{at:02}:00Z"
        calls.append({"session_id": "s", "timestamp": stamp, "input": [*prompt, *given], "output": answered})
        history += [question, said("assistant", answered)]
    rng.shuffle(calls)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "traces.json"
        file.write_text(json.dumps(calls))
        (one,) = IMPORTERS["langfuse"].read(Request((file,))).conversations
    words = [(turn.said, turn.reply.answer.text if turn.reply else None) for turn in one.turns]
    assert words == [(asked, answered) for asked, answered, _ in turns]
