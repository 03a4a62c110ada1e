"""The files and runs of real or simulated users that `harvest users fit` and `harvest users check` read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from recordings.acts.dialogue import Dialogue
from recordings.acts.reading import Level, read_dialogues

intents_option = click.option(
    "--intents", type=click.Choice(["top", "sub"]), default="top", show_default=True, help="Level of IARD's intents."
)


def read_people(paths: Sequence[Path], intents: Level, people: Console) -> list[Dialogue]:
    """Read the dialogues of all `paths`, and print on `people` what was left out, with the reason."""
    found: list[Dialogue] = []
    for path in paths:
        loaded = read_dialogues(path, level=intents)
        for why, count in loaded.left_out:
            people.print(f"note: {path}: {count} left out: {why}", markup=False)
        # Two sources may use the same names for different dialogues and people.
        apart = f"{path.name}/" if len(paths) > 1 else ""
        found += [replace(one, id=apart + one.id, person=one.person and apart + one.person) for one in loaded.kept]
    return found
