"""`harvest show`: list a run's trials, or print one conversation with its labels, routes and evidence."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.pages.witness.judgement import Verdict
from harvest.studies.pairs import conversation_rows
from harvest.studies.validity.witnessed import verdict_lines, wire_verdicts
from harvest.terminal import people_console, printable, terminal_width, wrap_lines
from protocols.labels import USEFUL
from recordings.conversations.conversation import LARGEST_NUMBER, Conversation
from recordings.log.caps import standings, stop_sentences
from recordings.log.run_folder import Run, read
from recordings.log.shard import planned_trials, shard_note
from topics.errors import InputError, Place

if TYPE_CHECKING:
    from harvest.studies.validity.worded_turns import WordedTurn
    from protocols.route_words import RuleFinding
    from scoring.material import Material as Ground

_LONGEST_PART = 300  # characters of thoughts and the like; --json has the complete texts


@click.command(cls=ShortHelp, paragraphs=2)
@click.argument("runs", nargs=-1, required=True, type=PathArgument())
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--topic", metavar="ID", help="Only this topic.")
@click.option("--trial", type=WholeNumberRange(1, LARGEST_NUMBER), help="Only this trial.")
@click.option(
    "--attempt",
    type=WholeNumberRange(1, LARGEST_NUMBER),
    help="Only this attempt, even if it is invalid or interrupted.",
)
@click.option("--all", "every", is_flag=True, help="All attempts, including invalid and interrupted ones.")
@click.option("--beside", metavar="A,B", help="Two systems side by side; with several RUNS, SYSTEM@RUN.")
@click.option("--flipped", is_flag=True, help="With --beside: only trials in which the label of a turn differs.")
@click.option("--text", "as_text", is_flag=True, help="Print the conversations even if there are several.")
@click.option("--groups", is_flag=True, help="With each conversation: what its turns achieve in groups of entities.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    runs: tuple[Path, ...],
    system: str | None,
    topic: str | None,
    trial: int | None,
    attempt: int | None,
    every: bool,
    beside: str | None,
    flipped: bool,
    as_text: bool,
    groups: bool,
    as_json: bool,
) -> None:
    """List a run's trials, or print one conversation (with --system, --topic and --trial).

    With --all, every attempt at the selected trials is shown; --attempt selects one attempt.

    With --groups, each conversation is followed by the distributions over the groups of relevant entities that its
    turns achieve, the memberships behind them, and their similarity to the target (GFRC, Table 2).

    With --beside, the conversations of two systems are printed side by side, and differing words are marked. With
    --topic, all trials on the topic are printed; otherwise trials are only listed. If several RUNS are given, the two
    sides may be recordings of one system.
    """
    if beside is not None:
        if system is not None or attempt is not None or every:
            raise InputError(
                "--system, --attempt and --all cannot be used with --beside", advice="name both: --beside A,B"
            )
        from harvest.cli.show_beside import show_side_by_side  # late: numpy, which a list of trials does not need

        recordings = [read(run) for run in runs]
        show_side_by_side(
            recordings,
            beside,
            topic=topic,
            trial=trial,
            flipped=flipped,
            as_text=as_text,
            groups=groups,
            as_json=as_json,
        )
        return
    if flipped:
        raise InputError("--flipped can only be used with --beside", advice="name two systems: --beside A,B")
    if len(runs) > 1:
        raise InputError(
            "only one run can be shown, but several were given",
            advice="show one by one, or two of their systems: --beside A,B",
        )
    run = runs[0]
    recorded = read(run)
    _check_name(
        recorded, "system", system, [one.key.system for one in recorded.conversations] + list(recorded.header.systems)
    )
    topics = recorded.header.topic_set()
    known = [one.id for one in topics.topics] if topics else [one.key.topic for one in recorded.conversations]
    _check_name(recorded, "topic", topic, known)
    asked = [
        conversation
        for conversation in recorded.conversations
        if system in (None, conversation.key.system)
        and topic in (None, conversation.key.topic)
        and trial in (None, conversation.key.trial)
        and attempt in (None, conversation.attempt)
    ]
    finished = {(one.trial_id, one.attempt) for one in recorded.finished}
    chosen = [one for one in asked if every or attempt is not None or (one.trial_id, one.attempt) in finished]
    if trial is not None and not asked:
        _check_trial(recorded, system, topic, trial)
    if attempt is not None and not chosen:
        raise InputError(
            f"none of the selected trials has an attempt {attempt}",
            place=Place(str(run)),
            advice="list the attempts with --all",
        )
    whole = as_text or len(chosen) == 1 or (bool(chosen) and None not in (system, topic, trial))
    if groups and chosen and not whole:
        from harvest.cli.show_beside import listed_groups_error

        raise listed_groups_error(len(chosen), "--system, --topic and --trial")
    grounds: Mapping[tuple[str, int], Ground] = {}
    if groups:
        from harvest.studies.scores.group_shares import gold_grounds  # late: numpy

        grounds = gold_grounds(recorded, chosen)
    if as_json:
        document = _listing_document(recorded, chosen, whole=whole)
        for conversation, row in zip(chosen, document["trials"], strict=True):
            if ground := grounds.get((conversation.trial_id, conversation.attempt)):
                from harvest.studies.scores.group_shares import group_value  # late: numpy

                row["groups"] = group_value(ground)
        click.echo(json.dumps(document))
        return
    console = people_console()
    if whole:
        kept = {
            (one.trial_id, one.attempt, name): file for one in recorded.failures for name, file in one.evidence.items()
        }
        verdicts = wire_verdicts(recorded, chosen)
        for conversation in chosen:
            mine = (conversation.trial_id, conversation.attempt)
            of_failure = {key[2]: file for key, file in kept.items() if key[:2] == mine}
            faults = {
                one.number: conversation_rows.fault_words(one)
                for one in _worded_turns(recorded, [conversation])
                if one.fault
            }
            _print_conversation(
                console,
                conversation,
                of_failure,
                verdicts,
                faults,
                conversation_rows.rule_findings(recorded, conversation),
            )
            if ground := grounds.get(mine):
                from harvest.studies.scores.group_shares import group_tables  # late: numpy

                for table in group_tables(ground, console.width):
                    console.print(table)
    else:
        _print_list(console, recorded, chosen, asked)


def _worded_turns(run: Run, chosen: list[Conversation]) -> "Sequence[WordedTurn]":
    from harvest.studies.validity.worded_turns import models_of, worded_turns  # late: only some runs have any

    topics = run.header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    models = models_of(run)
    return worded_turns(chosen, models, known, dict.fromkeys(models, run.path))


def _check_name(run: Run, what: str, given: str | None, known: list[str]) -> None:
    if given is not None and given not in known:
        names = list(dict.fromkeys(known))
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InputError(f"this run has no {what} {given!r}", place=Place(str(run.path)), allowed=shown)


def _check_trial(run: Run, system: str | None, topic: str | None, trial: int) -> None:
    keys = [*(one.key for one in run.conversations), *planned_trials(run.header)]
    there = {one.trial for one in keys if system in (None, one.system) and topic in (None, one.topic)}
    if trial not in there:
        of = " of ".join(filter(None, (f"trial {trial}", topic, system)))
        row = sorted(there)
        known = f"1 to {len(row)}" if row and row[-1] == len(row) else ", ".join(map(str, row[:20])) or "none"
        raise InputError(f"this run has no {of}", place=Place(str(run.path)), allowed=known)


def _listing_document(run: Run, chosen: list[Conversation], *, whole: bool) -> dict[str, Any]:
    trials = [conversation_rows.conversation_row(one, whole=whole) for one in chosen]
    if whole:
        verdicts = wire_verdicts(run, chosen)
        for one, row in zip(chosen, trials, strict=True):
            worded = {turn.number: turn for turn in _worded_turns(run, [one])}
            for turn in row["turns"]:
                if found := worded.get(turn["turn"]):
                    turn["fault"], turn["words_kept"] = found.fault, found.kept if found.kept == found.kept else None
                verdict = verdicts.get((one.trial_id, one.attempt, turn["turn"]))
                if verdict is not None:
                    turn["wire"] = asdict(verdict)
    return {"format": "harvest-listing/1", "run": str(run.path), "damage": list(run.damage), "trials": trials}


def _print_list(console: Console, run: Run, chosen: list[Conversation], asked: list[Conversation]) -> None:
    names = list(map(_trial_name, chosen))
    wide = max(map(len, names), default=0)
    for name, conversation in zip(names, chosen, strict=True):
        went = printable(
            f"{conversation_rows.label_line(conversation):<5} {conversation_rows.outcome_words(conversation)}",
            line=True,
        )
        click.echo(f"{name:<{wide}}  {went}")
    attempts = Counter(conversation_rows.outcome_words(conversation) for conversation in asked)
    counted = ", ".join(f"{count} {outcome}" for outcome, count in attempts.most_common())
    hint = "" if len(chosen) == len(asked) else "; --all also shows invalid and interrupted ones"
    found = f"{len(chosen)} shown" if chosen or not asked else "no valid attempt"
    click.echo("\n" + printable(f"{found}; attempts recorded: {counted or 'none'}{hint}", line=True))
    if shard := shard_note(run.header):
        click.echo(wrap_lines(f"note: {shard}", terminal_width(sys.stdout)))
    capped = standings(run.header, run.attempts)
    for sentence in stop_sentences(capped) or [one.progress for one in capped]:
        click.echo(wrap_lines(f"note: {sentence}", terminal_width(sys.stdout)))
    for sentence in run.damage:
        console.print(f"[yellow]damage:[/] {escape(sentence)}")


def _trial_name(one: Conversation) -> str:
    attempt = f" attempt {one.attempt}" if one.attempt > 1 else ""
    return printable(f"{one.key.system}  {one.key.topic}  trial {one.key.trial}{attempt}", line=True)


def _print_conversation(
    console: Console,
    conversation: Conversation,
    of_failure: Mapping[str, str],
    verdicts: Mapping[tuple[str, int, int], Verdict],
    faults: Mapping[int, str],
    findings: "Mapping[int, Sequence[RuleFinding]]",
) -> None:
    """Print a conversation. `of_failure` maps names to evidence files of a failure of this attempt. `verdicts` are
    the comparisons of its turns with the network traffic. `faults` maps turns to faults in the text that a model
    wrote for the user. `findings` maps turns to how the rules judged the answers."""
    key = conversation.key
    title = f"{key.system} · {key.topic} · trial {key.trial} · attempt {conversation.attempt}"
    title += f" · user {conversation.member}" if conversation.member else ""
    console.rule(Text(printable(title, line=True)))
    for turn in conversation.turns:
        if turn.session:
            console.rule(Text(printable(f"the user comes back in a new session, {turn.session}", line=True)))
        if turn.reply is not None and turn.reply.greeting:
            console.print(Text("the system spoke first:", style="dim"))
            _print_words(console, turn.reply.greeting)
            for offer in turn.reply.greeting_offers:
                offered = f"offered: {conversation_rows.offer_words(offer)}"
                console.print(Text(f"  {printable(offered, line=True)}", style="dim"), soft_wrap=True)
        by = f"{turn.state}, {turn.user}: {turn.act}" if turn.user else turn.state
        by = f"{by}; {turn.worded}" if turn.worded else by
        console.print(Text(f"U{turn.number} ", style="bold cyan") + Text(printable(f"({by})", line=True), style="dim"))
        if turn.choice is not None and (chosen := conversation_rows.choice_line(turn.choice, turn.act or turn.state)):
            console.print(Text(f"  {printable(chosen, line=True)}", style="dim"), soft_wrap=True)
        _print_words(console, turn.said)
        if turn.pressed is not None:
            pressed = f"pressed: {conversation_rows.offer_words(turn.pressed)}"
            console.print(Text(f"  {printable(pressed, line=True)}", style="dim"), soft_wrap=True)
        for sent in turn.attached:
            told = f"sent with it: {sent.name} ({sent.type}, {sent.size} bytes)"
            console.print(Text(f"  {printable(told, line=True)}", style="dim"), soft_wrap=True)
        if fault := faults.get(turn.number):
            console.print(Text(f"  fault: {printable(fault, line=True)}", style="yellow"), soft_wrap=True)
        if turn.reply is None:
            console.print(Text("no whole reply was recorded", style="red"))
            continue
        if turn.reply.sent_as:
            console.print(Text("  the page sent this instead:", style="yellow"))
            _print_words(console, turn.reply.sent_as)
        heading = Text(
            f"S{turn.number} {turn.label or '?'}", style="bold green" if turn.label == USEFUL else "bold yellow"
        )
        if turn.reply.seconds is not None:
            heading.append(f" {turn.reply.seconds:.1f} s", style="dim")
        if turn.reply.finish:
            heading.append(printable(f" finish={turn.reply.finish}", line=True), style="dim")
        if turn.reply.model:
            heading.append(printable(f" model={turn.reply.model}", line=True), style="dim")
        console.print(heading)
        _print_words(console, turn.reply.answer.text)
        for part in (*conversation_rows.part_lines(turn.reply.answer), *(f"note: {note}" for note in turn.reply.notes)):
            shown = printable(part, line=True)
            cut = shown if len(shown) <= _LONGEST_PART else f"{shown[:_LONGEST_PART]}…"
            console.print(Text(f"  {cut}", style="dim"), soft_wrap=True)
        verdict = verdicts.get((conversation.trial_id, conversation.attempt, turn.number))
        for line in verdict_lines(verdict) if verdict is not None else ():
            style = "yellow" if verdict is not None and verdict.word == "differs" else "dim"
            console.print(Text(f"  {printable(line, line=True)}", style=style), soft_wrap=True)
        if turn.route is not None:
            for line in conversation_rows.route_lines(turn.route, findings.get(turn.number, ())):
                said = wrap_lines(f"  {printable(line, line=True)}", terminal_width(sys.stdout), hang=2)
                console.print(Text(said, style="dim"), soft_wrap=True)
        for name, address in turn.reply.evidence.items():
            console.print(Text(f"  evidence {name}: {address}", style="dim"), soft_wrap=True)
    for name, address in of_failure.items():
        console.print(Text(f"  evidence of the failure, {name}: {address}", style="dim"), soft_wrap=True)
    detail = conversation.outcome.detail if conversation.outcome else ""
    told = f"outcome: {conversation_rows.outcome_words(conversation)}" + (f": {detail}" if detail else "")
    _print_words(console, told)
    if conversation.outcome and conversation.outcome.choice:
        chosen = conversation_rows.choice_line(conversation.outcome.choice, conversation.outcome.reason)
        console.print(Text(f"  {printable(chosen, line=True)}", style="dim"), soft_wrap=True)


def _print_words(console: Console, words: str) -> None:
    """Print what was said: wrapped between words in a terminal, and unchanged for programs."""
    console.print(Text(wrap_lines(printable(words), terminal_width(sys.stdout))), soft_wrap=True)
