"""`harvest menu`: walk a menu of buttons, and show its graph with probabilities."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harvest.audits.audit import Audit, load_audit
from harvest.audits.system import System, choose_system
from harvest.cli.exposures import keys_in_clear_option
from harvest.cli.interruption import Interrupted, run_until_stopped
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.playing.menu_walk import Walk, read_greeting, walk_header, walk_menu
from harvest.playing.play import first_error
from harvest.terminal import print_message, printable
from protocols.presses import press_refusal
from recordings.log.continuation import refuse_differences
from recordings.log.run_folder import count_begun_files, is_run, read
from recordings.log.store import RunWriter
from recordings.trees.menu import Choice, Menu, Page
from scoring.inference.proportions import wilson_ends
from topics.counting import pluralize
from topics.errors import HarvestError, InputError
from topics.shown_names import shorten
from topics.topic import Topic

FORMAT = "harvest-menu/1"


@click.command(cls=ShortHelp, paragraphs=2, rare="--by --greeting --least --most")
@click.argument("audit", type=PathArgument(str))
@click.option("--system", "system_name", metavar="NAME", help="System of the audit [default: its only one].")
@click.option("--topic", "topic_id", metavar="ID", help="Topic of the audit [default: its first].")
@click.option("--say", metavar="TEXT", help="The words that open the menu [default: the topic's request].")
@click.option("--greeting", is_flag=True, help="Begin with the buttons of the greeting, and say nothing.")
@click.option("--dry", is_flag=True, help="Only open the menu, and list what would be pressed and what would not.")
@click.option("--depth", type=WholeNumberRange(1, 100), default=4, show_default=True, help="Presses in a row at most.")
@click.option(
    "--least", type=WholeNumberRange(1, 1000), default=3, show_default=True, help="Times to press each button."
)
@click.option(
    "--trials",
    type=WholeNumberRange(1, 100_000),
    default=20,
    show_default=True,
    help="Presses of a button that led to several pages.",
)
@click.option(
    "--most", type=WholeNumberRange(1, 1_000_000), default=500, show_default=True, help="Conversations in all."
)
@click.option("--allow", metavar="TITLE", multiple=True, help="Press this title, too, whatever it does (repeatable).")
@click.option(
    "--by",
    type=click.Choice(["text", "offers"]),
    default="text",
    show_default=True,
    help="What tells pages apart: text and offers, or offers alone.",
)
@click.option("--out", type=PathArgument(), metavar="RUN", help="The run folder [default: runs/NAME-menu].")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@keys_in_clear_option
def command(
    audit: str,
    system_name: str | None,
    topic_id: str | None,
    say: str | None,
    greeting: bool,
    dry: bool,
    depth: int,
    least: int,
    trials: int,
    most: int,
    allow: tuple[str, ...],
    by: Any,
    out: Path | None,
    as_json: bool,
    keys_in_clear: bool,
) -> int:
    """Walk a menu of buttons, and show its graph.

    AUDIT provides the system and the topic; its protocol is not played. Every way through the menu begins in a fresh
    conversation, the nearest buttons first. Pages that show the same are one page. A button that led to several pages
    is pressed more often, for its probabilities. Every conversation is recorded, and the same command continues where
    an earlier one ended.

    Nothing is pressed that may leave the chat, or that names buying, booking, sending or deleting, unless --allow names
    its title. Begin with --dry.
    """
    resolved = load_audit(audit, keys_in_clear=keys_in_clear)
    system = choose_system(resolved.systems, system_name)
    topic = resolved.topics[topic_id] if topic_id is not None else resolved.topics.topics[0]
    if not resolved.drivers[system.name].capabilities.presses:
        raise InputError(
            f"the driver {system.driver!r} of the system {system.name!r} cannot press buttons",
            advice="see “Pressing” in docs/drivers.md for drivers that can, and for what they need",
        )
    if greeting and say:
        raise InputError("--greeting and --say cannot be used together", advice="give only one of them")
    if greeting and not resolved.drivers[system.name].capabilities.greets:
        raise InputError(
            f"the driver of the system {system.name!r} does not wait for a greeting",
            advice="write `greets: true` into the options of the system, if its driver has that option",
        )
    walk = Walk("" if greeting else say or topic.request, depth, least, trials, most, allow, by)
    folder = (out or Path("runs") / f"{resolved.name}-menu").absolute()
    if greeting and dry:
        menu = run_until_stopped(read_greeting(resolved, system, topic))
        click.echo(_shown(menu, walk, system, topic, as_json=as_json))
        return 0
    menu, broken = _walk(resolved, system, topic, replace(walk, most=1) if dry else walk, folder)
    click.echo(_shown(menu, walk, system, topic, as_json=as_json))
    if broken:
        print_message(f"note: the walk is not complete: {printable(broken, line=True)}")
        return 3
    if not dry and menu.conversations >= most:
        print_message(f"note: the limit is {pluralize(most, 'conversation')}; a larger --most goes on")
    return 0


def _shown(menu: Menu, walk: Walk, system: System, topic: Topic, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(menu_document(menu, walk, system.name, topic.id), ensure_ascii=False, indent=1)
    return "\n".join(menu_lines(menu, walk, system.name))


def _walk(audit: Audit, system: System, topic: Topic, walk: Walk, folder: Path) -> tuple[Menu, str]:
    """Walk the menu, and return what is known of it, and why the system was left before the end, or ""."""
    header, broken = walk_header(audit, walk), ""

    def progress(menu: Menu) -> None:
        if menu.conversations and menu.conversations % 20 == 0:
            print_message(f"{pluralize(menu.conversations, 'conversation')}, {pluralize(len(menu.pages), 'page')}")

    async def play() -> None:
        nonlocal broken
        if is_run(folder):
            refuse_differences(read(folder).header, header, folder)
            if walk.next_way(walk.fold(read(folder), system, topic)) is None:
                return
        async with RunWriter.open(folder, header, secrets=audit.secrets) as writer:
            broken = await walk_menu(audit, system, topic, walk, writer, progress)

    before = count_begun_files(folder)
    try:
        run_until_stopped(play())
    except* HarvestError as group:
        raise first_error(group) from None
    except* KeyboardInterrupt:
        done = "the same command goes on" if count_begun_files(folder) > before else "nothing was recorded"
        raise Interrupted(f"\ninterrupted; {done}") from None
    return walk.fold(read(folder), system, topic), broken


def menu_lines(menu: Menu, walk: Walk, system: str) -> list[str]:
    """Return the menu as text: each page with its buttons, and the page that each button led to."""
    counts = [pluralize(len(menu.pages), "page"), pluralize(menu.conversations, "conversation")]
    lines = [f"menu of {printable(system, line=True)}: {', '.join(counts)}", f"opening: {_led(menu.opening)}"]
    for page in menu.pages:
        ways = pluralize(page.depth, "press", "presses") if page.depth else "the opening"
        text = shorten(printable(" ".join(page.text.split()), line=True), 60)
        lines.append(f"\n{page.number}  {text}  (after {ways})")
        if page.ended:
            lines.append("   the system closes the conversation")
        elif not page.offers:
            lines.append("   dead end: nothing is offered")
        lines += [f"   [{printable(title, line=True)}] {told}" for title, told in _offers(menu, walk, page)]
    return lines


def _offers(menu: Menu, walk: Walk, page: Page) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for offer in page.offers:
        choice = menu.choices.get((page.number, offer.title))
        if choice is not None:
            found[offer.title] = _led(choice)
        elif why := press_refusal(offer, walk.allow):
            found.setdefault(offer.title, f"is not pressed: {why}")
        elif not page.ended:
            found.setdefault(offer.title, "would be pressed" if page.depth < walk.depth else "lies deeper than --depth")
    return list(found.items())


def _led(choice: Choice) -> str:
    if choice.kind == "fixed":
        return f"→ {next(iter(choice.led))} ({pluralize(choice.presses, 'time')})"
    parts = []
    for page, count in choice.led.most_common():
        low, high = _interval(count, choice.presses)
        parts.append(f"{page}: {count / choice.presses:.2f} [{low:.2f}, {high:.2f}]")
    word = "at random" if choice.kind == "random" else "depending on what was pressed before"
    return f"→ {'; '.join(parts)}  ({word}, {pluralize(choice.presses, 'time')})"


def _interval(count: int, presses: int) -> tuple[float, float]:
    low, high = wilson_ends(count, presses)
    return float(low), float(high)


def menu_document(menu: Menu, walk: Walk, system: str, topic: str) -> dict[str, Any]:
    """Return the menu as a `harvest-menu/1` document. An interval is Wilson's, at 95%, for a press that led to several
    pages at random; otherwise it is null."""

    def led(choice: Choice) -> dict[str, Any]:
        random = choice.kind == "random"
        return {
            "kind": choice.kind,
            "presses": choice.presses,
            "led": [
                {
                    "page": page,
                    "count": count,
                    "share": count / choice.presses,
                    "interval": list(_interval(count, choice.presses)) if random else None,
                }
                for page, count in sorted(choice.led.items())
            ],
        }

    return {
        "format": FORMAT,
        "system": system,
        "topic": topic,
        "opening": {"text": walk.opening, **led(menu.opening)},
        "conversations": menu.conversations,
        "known": walk.next_way(menu) is None and menu.conversations < walk.most,
        "pages": [
            {
                "page": page.number,
                "text": page.text,
                "depth": page.depth,
                "ended": page.ended,
                "offers": [
                    {
                        "title": offer.title,
                        "value": offer.value,
                        "kind": offer.kind,
                        "refused": press_refusal(offer, walk.allow),
                        "choice": led(choice) if (choice := menu.choices.get((page.number, offer.title))) else None,
                    }
                    for offer in page.offers
                ],
            }
            for page in menu.pages
        ],
    }
