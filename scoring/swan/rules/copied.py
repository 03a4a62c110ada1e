"""`copied`: Originality as not being copied from earlier turns of the conversation ([SWAN] §4.12).

`copied(field=NAME)` also compares with a text in a field of the topic, such as a poem that a new poem must not copy.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from scoring.swan.rules.rule import Rule, Sight, Verdict
from topics.decimals import percent

_WORD = re.compile(r"\w+(?:'\w+)?")
_RUN_LENGTH = 5  # words in a row that count as a copy
_FEWEST_WORDS = 8  # words of a nugget that are enough to judge


def _find_words(text: str) -> list[str]:
    return _WORD.findall(text.replace("’", "'").casefold())


def copied_share(words: Sequence[str], runs: set[tuple[str, ...]]) -> float:
    """Return the share of `words` that lie in one of the five-word `runs`. The share is 0 for fewer than five words."""
    covered = [False] * len(words)
    for place in range(len(words) - _RUN_LENGTH + 1):
        if tuple(words[place : place + _RUN_LENGTH]) in runs:
            covered[place : place + _RUN_LENGTH] = [True] * _RUN_LENGTH
    return sum(covered) / len(words) if words else 0.0


def judge(sight: Sight, *, text_field: str = "") -> Iterator[Verdict]:
    """Score 1 minus the share of a nugget's words that are copied from earlier turns, from the user's question or from
    the topic's field `text_field`. Copied words are those in runs of five or more words. Code and nuggets of fewer than
    8 words get no score, and no nugget is scored if nothing before it has 8 words. With a field, there is no score if
    the topic does not have it."""
    runs: set[tuple[str, ...]] = set()
    text = sight.topic.fields.get(text_field, "") if sight.topic is not None else ""
    if text_field and not text:
        return
    said = _add_runs(runs, text)
    where = f"earlier or in {text_field}" if text_field else "earlier"
    rules = {(one.turn, one.start): one.rule for one in sight.nuggets if one.speaker == "system"}
    items = {number: [one for one in sight.items if one.turn == number] for number in {one.turn for one in sight.items}}
    for turn in sight.conversation.turns:
        said = _add_runs(runs, turn.said) or said
        for item in items.get(turn.number, ()):
            words = _find_words(sight.text(item))
            if len(words) < _FEWEST_WORDS or not said or rules.get((item.turn, item.start)) == "code":
                continue
            share = copied_share(words, runs)
            yield Verdict(
                item, 1 - share, f"{percent(share)} of its words stand {where} in runs of {_RUN_LENGTH} or more"
            )
        if turn.reply is not None:
            said = _add_runs(runs, turn.reply.answer.text) or said


def copied_rule(text_field: str = "") -> Rule:
    """Return the rule, which also compares with the field `text_field` of topics unless it is ""."""
    known = f" and the topic's {text_field}" if text_field else ""
    return Rule(
        name=f"copied(field={text_field})" if text_field else "copied",
        version="1",
        level="nugget",
        limits=f"knows no text but the conversation{known}: finds what is copied from it, and a 1 does not say that a "
        "nugget is new",
        silence="nuggets of fewer than 8 words, code, or nothing before them to copy"
        + (f"; or the topic has no field {text_field}" if text_field else ""),
        judge=partial(judge, text_field=text_field),
    )


COPIED = copied_rule()


def _add_runs(runs: set[tuple[str, ...]], text: str) -> bool:
    words = _find_words(text)
    runs.update(tuple(words[place : place + _RUN_LENGTH]) for place in range(len(words) - _RUN_LENGTH + 1))
    return len(words) >= _FEWEST_WORDS
