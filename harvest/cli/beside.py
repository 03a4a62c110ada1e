"""`harvest show --beside A,B`: conversations of two systems side by side, or a list of their differences."""

import json
from collections.abc import Sequence

import click

from harvest.studies.pairs.beside import pair_line, pair_lines, summary_lines
from harvest.studies.pairs.conversation_pairs import (
    ConversationPair,
    Side,
    choose_sides,
    label_differences,
    pair_conversations,
)
from harvest.studies.pairs.conversation_rows import conversation_row
from harvest.studies.runs.side_by_side import refuse_twice
from harvest.terminal import people_console, printable, tell
from recordings.log.run_folder import Run
from topics.counting import pluralize
from topics.errors import InputError


def show_beside(
    runs: Sequence[Run],
    given: str,
    *,
    topic: str | None,
    trial: int | None,
    flipped: bool,
    as_text: bool,
    as_json: bool,
) -> None:
    """Print the pairs selected by `given` (`A,B`), topic and trial. flipped: only pairs with different labels.

    Whole conversations are printed for a topic, for a single pair and with as_text; otherwise a list.
    """
    refuse_twice(runs)
    sides = choose_sides(runs, given)
    every = pair_conversations(*sides)
    chosen = [one for one in every if topic in (None, one.topic) and trial in (None, one.trial)]
    if not chosen:
        raise _no_pair_error(every, sides, topic, trial)
    shown = [one for one in chosen if one.flipped] if flipped else chosen
    whole = as_text or topic is not None or len(chosen) == 1
    for sentence in dict.fromkeys(sentence for run in runs for sentence in run.damage):
        tell(printable(f"damage: {sentence}", line=True))
    if as_json:
        trials = [
            {
                "topic": one.topic,
                "trial": one.trial,
                "flipped": list(one.flipped),
                "conversations": [
                    conversation_row(each, whole=whole) if each else None for each in (one.left, one.right)
                ],
            }
            for one in shown
        ]
        named = [{"name": side.name, "system": side.system, "run": str(side.run.path)} for side in sides]
        click.echo(json.dumps({"format": "harvest-beside/1", "sides": named, "trials": trials}))
        return
    console = people_console()
    for one in shown:
        if whole:
            for line in pair_lines(one, sides, console):
                console.print(line, soft_wrap=True)
            console.print()
        else:
            click.echo(pair_line(one, sides))
    if len(chosen) > 1 or flipped:
        if shown and not whole:
            click.echo()
        both = sum(one.left is not None and one.right is not None for one in chosen)
        counted = pluralize(len(chosen), "trial")
        click.echo(f"{len(shown)} shown of {counted}; {both} with a valid attempt on both sides")
        said = list(summary_lines(list(label_differences(chosen)), sides))
        for sentence in said or ["no turn has a label on both sides"]:
            click.echo(sentence)


def _no_pair_error(
    every: Sequence[ConversationPair], sides: tuple[Side, Side], topic: str | None, trial: int | None
) -> InputError:
    names = " and ".join(side.name for side in sides)
    topics = list(dict.fromkeys(one.topic for one in every))
    if not every:
        return InputError(f"nothing is recorded of {names}")
    if topic is not None and topic not in topics:
        listed = ", ".join(topics[:8]) + (", …" if len(topics) > 8 else "")
        return InputError(f"neither of {names} was tried on a topic {topic!r}", allowed=listed)
    trials = sorted({one.trial for one in every if topic in (None, one.topic)})
    listed = ", ".join(map(str, trials[:8])) + (", …" if len(trials) > 8 else "")
    return InputError(f"neither of {names} has a trial {trial}{f' on {topic}' if topic else ''}", allowed=listed)
