"""Counts of tokens have one name in a recording, whoever gives them."""

import pytest

from harvest.drivers.program_output import turn_of_fields
from harvest.drivers.token_counts import count_tokens
from harvest.systems.timing import Stopwatch

COUNTED = {"prompt": 7, "completion": 4}


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7, "completion_tokens": 4},
        {"input_tokens": 7, "output_tokens": 4},
        {"inputTokens": 7, "outputTokens": 4},
        {"promptTokenCount": 7, "candidatesTokenCount": 4},
        {"prompt_eval_count": 7, "eval_count": 4},
    ],
)
def test_counts_of_every_api_have_the_same_names(usage: dict[str, object]) -> None:
    assert dict(count_tokens({**usage, "cost": 3})) == COUNTED
    stated = turn_of_fields({"text": "x", "tokens": {**usage, "own": 3}}, Stopwatch(), thoughts_apart=True)
    assert dict(stated.tokens) == {**COUNTED, "own": 3}


def test_details_are_counted_and_invalid_counts_are_left_out() -> None:
    usage = {
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": -1,
        "input_tokens": True,
    }
    assert dict(count_tokens(usage, others=True)) == {"completion": 9, "reasoning": 5}
