"""`harvest replay-routes`: check whether today's rules would take the recorded paths."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument
from harvest.terminal import printable
from protocols.interpreter import retrace
from protocols.library import check_topics, load_protocol
from protocols.route import Ask, Route, Say, Stop
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import read
from simulators.wrappers.wrapped import REWORDING
from topics.counting import pluralize
from topics.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Change:
    """The first turn of a conversation with a decision today that differs from the recorded decision."""

    system: str
    topic: str
    trial: int
    attempt: int
    turn: int
    recorded: str
    now: str
    evidence: tuple[str, ...]


@click.command()
@click.argument("run", type=PathArgument())
@click.option(
    "--protocol", type=NameOrFile(), metavar="NAME|FILE", help="Use this protocol instead of the recorded one."
)
@click.option("--fail-on-change", is_flag=True, help="Exit with 1 if any path differs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(run: Path, protocol: str | None, fail_on_change: bool, as_json: bool) -> int:
    """Check whether today's rules would take the recorded paths.

    The finished conversations of RUN are replayed without contacting any system.
    """
    recorded = read(run)
    topics = recorded.header.topic_set()
    chosen = load_protocol(protocol) if protocol else recorded.header.played_protocol()
    if chosen is None:
        raise InputError(
            "this run was imported without a protocol to replay",
            place=Place(str(run)),
            advice="give a protocol: --protocol NAME",
        )
    if topics is None:
        raise InputError(
            "a replay needs the run's topics, which were not recorded",
            place=Place(str(run)),
            advice="import it again with --topics",
        )
    check_topics(chosen, topics)
    changes: list[Change] = []
    versions = 0
    for conversation in recorded.finished:
        reworded = conversation.user in REWORDING
        now = retrace(chosen, topics[conversation.key.topic], conversation.exchanges, reworded=reworded)
        # Unchanged decisions by rules with other code than the recorded one.
        versions += sum(
            turn.route is not None
            and action.route is not None
            and (turn.route.rule, turn.route.target) == (action.route.rule, action.route.target)
            and turn.route.version != action.route.version
            for turn, action in zip(conversation.turns, now[1:], strict=False)
        )
        change = _first_change(conversation, now)
        if change is not None:
            changes.append(change)
    if as_json:
        document = {
            "format": "harvest-routes/1",
            "conversations": len(recorded.finished),
            "changed": [asdict(change) for change in changes],
            "decisions_by_other_rule_versions": versions,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        for change in changes:
            told = (
                f"{change.system} {change.topic} trial {change.trial}, turn {change.turn}: was {change.recorded}, "
                f"now {change.now}" + (f" ({'; '.join(change.evidence)})" if change.evidence else "")
            )
            click.echo(printable(told, line=True))
        click.echo(f"{pluralize(len(recorded.finished), 'conversation')}, {len(changes)} would take another path")
        if versions:
            click.echo(f"{versions} decisions were recorded with other versions of the rules")
    return 1 if changes and fail_on_change else 0


def _first_change(conversation: Conversation, now: Sequence[Say | Ask | Stop]) -> Change | None:
    def change(turn: int, recorded: str, today: str, evidence: tuple[str, ...] = ()) -> Change:
        key = conversation.key
        return Change(key.system, key.topic, key.trial, conversation.attempt, turn, recorded, today, evidence)

    turns = [turn for turn in conversation.turns if turn.reply is not None]
    for i, turn in enumerate(turns):
        action = now[i]
        if isinstance(action, Stop) or (
            isinstance(action, Say) and action.text != turn.said and conversation.user not in REWORDING
        ):
            today = f"says {action.text!r}" if isinstance(action, Say) else f"stops: {action.outcome}"
            return change(turn.number, f"said {turn.said!r}", today)
        route = now[i + 1].route
        if turn.route is None or route is None:
            continue  # an import without decisions has nothing to compare with
        if (turn.route.label, turn.route.target) != (route.label, route.target):
            quotes = tuple(dict.fromkeys(piece.quote[:80] or piece.note[:80] for piece in route.evidence[:2]))
            return change(turn.number, _route_words(turn.route), _route_words(route), quotes)
    return None


def _route_words(route: Route) -> str:
    return f"{route.label} by {route.rule} to {route.target}"
