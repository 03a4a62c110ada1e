"""The conversations of two systems side by side, for `harvest show --beside`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.text import Text

from harvest.studies.pairs import conversation_pairs, conversation_rows
from harvest.studies.pairs.beside import pair_line, pair_lines, summary_lines
from harvest.studies.pairs.conversation_pairs import ConversationPair, Side
from harvest.studies.runs.side_by_side import refuse_repeated_runs
from harvest.studies.scores import group_shares
from harvest.terminal import people_console, print_message, printable
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import Run
from scoring.material import Material as Ground
from topics.counting import pluralize
from topics.errors import InputError


def listed_groups_error(trials: int, options: str) -> InputError:
    """Return the error for --groups if `trials` trials would be listed instead of printed. `options` select one."""
    return InputError(
        f"--groups prints a single conversation, but {pluralize(trials, 'trial')} would be listed",
        advice=f"select one with {options}, or print all with --text",
    )


def show_side_by_side(
    runs: Sequence[Run],
    given: str,
    *,
    topic: str | None,
    trial: int | None,
    flipped: bool,
    as_text: bool,
    groups: bool,
    as_json: bool,
) -> None:
    """Print pairs of conversations, selected by `given` (such as `A,B`), topic and trial. With `flipped`, only pairs
    with different labels are printed. The conversations are printed in full if a topic is given, if only one pair is
    selected or if `as_text` is true; otherwise the pairs are only listed. With `groups`, each pair is followed by the
    distributions over groups of entities that both conversations achieve."""
    refuse_repeated_runs(runs)
    sides = conversation_pairs.choose_sides(runs, given)
    every = conversation_pairs.pair_conversations(*sides)
    chosen = [one for one in every if topic in (None, one.topic) and trial in (None, one.trial)]
    if not chosen:
        raise _no_pair_error(every, sides, topic, trial)
    shown = [one for one in chosen if one.differing_turns] if flipped else chosen
    whole = as_text or topic is not None or len(chosen) == 1
    if groups and shown and not whole:
        raise listed_groups_error(len(shown), "--topic and --trial")
    grounds: list[Mapping[tuple[str, int], Ground]] = [{}, {}]
    if groups:
        every_side = ([one.left for one in shown], [one.right for one in shown])
        grounds = [
            group_shares.gold_grounds(side.run, [*filter(None, own)])
            for side, own in zip(sides, every_side, strict=True)
        ]
    for sentence in dict.fromkeys(sentence for run in runs for sentence in run.damage):
        print_message(printable(f"damage: {sentence}", line=True))
    if as_json:
        trials = [
            {
                "topic": one.topic,
                "trial": one.trial,
                "flipped": list(one.differing_turns),
                "conversations": [
                    _conversation_row(each, own, whole=whole) if each else None
                    for each, own in zip((one.left, one.right), grounds, strict=True)
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
            for side, each, own in zip(sides, (one.left, one.right), grounds, strict=True):
                if each and (ground := own.get((each.trial_id, each.attempt))):
                    console.print(Text(printable(side.name, line=True), style="bold"))
                    for table in group_shares.group_tables(ground, console.width):
                        console.print(table)
            console.print()
        else:
            click.echo(pair_line(one, sides))
    if len(chosen) > 1 or flipped:
        if shown and not whole:
            click.echo()
        both = sum(one.left is not None and one.right is not None for one in chosen)
        counted = pluralize(len(chosen), "trial")
        click.echo(f"{len(shown)} shown of {counted}; {both} with a valid attempt on both sides")
        said = list(summary_lines(list(conversation_pairs.label_differences(chosen)), sides))
        for sentence in said or ["no turn has a label on both sides"]:
            click.echo(sentence)


def _conversation_row(one: Conversation, grounds: Mapping[tuple[str, int], Ground], *, whole: bool) -> dict[str, Any]:
    row = conversation_rows.conversation_row(one, whole=whole)
    ground = grounds.get((one.trial_id, one.attempt))
    return {**row, "groups": group_shares.group_value(ground)} if ground else row


def _no_pair_error(
    every: Sequence[ConversationPair], sides: tuple[Side, Side], topic: str | None, trial: int | None
) -> InputError:
    names = [side.name for side in sides]
    neither = f"neither {' nor '.join(names)}"
    topics = list(dict.fromkeys(one.topic for one in every))
    if not every:
        return InputError(f"nothing was recorded for {' and '.join(names)}")
    if topic is not None and topic not in topics:
        listed = ", ".join(topics[:8]) + (", …" if len(topics) > 8 else "")
        return InputError(f"{neither} was tried on topic {topic!r}", allowed=listed)
    trials = sorted({one.trial for one in every if topic in (None, one.topic)})
    listed = ", ".join(map(str, trials[:8])) + (", …" if len(trials) > 8 else "")
    return InputError(f"{neither} has a trial {trial}{f' on {topic}' if topic else ''}", allowed=listed)
