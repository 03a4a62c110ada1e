"""A threshold for the figures of an audit, as written in its file."""

from typing import Annotated, Literal

from pydantic import Field

from topics.document import StrictModel


class Threshold(StrictModel):
    """`{measure: "%useful", system: B, turn: 1, at_least: 0.8}`: a bound for all matching figures.

    judge: compare the figure's `interval` (the default) or its point `estimate` with the bound. estimand: whether the
    interval is for topics `like-these` or for `these`; by default that of the audit's scoring.
    """

    measure: str
    system: str | None = None
    topic_type: str | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    at_least: float | None = None
    at_most: float | None = None
    judge: Literal["interval", "estimate"] | None = None
    estimand: Literal["like-these", "these"] | None = None
