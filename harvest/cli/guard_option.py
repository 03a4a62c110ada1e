"""The option that chooses what intervals of a difference allow for."""

from typing import get_args

import click

from scoring.inference.paired import Guard

guard_option = click.option(
    "--guard",
    type=click.Choice(list(get_args(Guard))),
    default="unseen",
    show_default=True,
    help="Intervals for topics like these: with an unseen kind of topic, or (none) t, for nearly normal differences.",
)
