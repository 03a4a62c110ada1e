"""A bound that a figure of an audit must keep, as its file gives it."""

from typing import Annotated, Literal

from pydantic import Field

from topics.document import StrictModel


class Threshold(StrictModel):
    """`{measure: "%useful", system: B, turn: 1, at_least: 0.8}`: every figure that matches must keep the bound.

    judge: the figure's `interval`, where nothing is given, or its point `estimate`. estimand: what the interval speaks
    of, `like-these` topics or `these`; that of the audit's scoring where nothing is given.
    """

    measure: str
    system: str | None = None
    topic_type: str | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    at_least: float | None = None
    at_most: float | None = None
    judge: Literal["interval", "estimate"] | None = None
    estimand: Literal["like-these", "these"] | None = None
