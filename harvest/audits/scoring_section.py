"""What an audit says of its figures: how they are made, and the bounds that they are held to.

Scoring reads this of every run, and needs nothing else of audits, which bring drivers, users and designs.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from scoring.settings import SETTINGS, Choice, Kind, Number, NumbersByGrade, NumbersByName
from topics.document import StrictModel, form_validator


class Threshold(StrictModel):
    """A bound for all matching figures: `{measure: "%useful", system: B, turn: 1, at_least: 0.8}`. `judge` selects
    the value that is compared with the bound: the figure's `interval` (the default) or its point `estimate`.
    `estimand` selects an interval for topics `like-these` or for `these`; the default is the estimand of the audit's
    scoring."""

    measure: str
    system: str | None = None
    topic_type: str | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    at_least: float | None = None
    at_most: float | None = None
    judge: Literal["interval", "estimate"] | None = None
    estimand: Literal["like-these", "these"] | None = None


def _as_type(kind: Kind) -> Any:
    match kind:
        case Choice():
            return Literal[(*kind.words, *kind.earlier)]
        case Number():
            return Annotated[int if kind.whole else float, Field(ge=kind.least, le=kind.most)]
        case NumbersByName():
            return dict[str, _as_type(kind.number)]  # type: ignore[misc]
        case NumbersByGrade():
            return dict[Annotated[str, form_validator(r"L?[0-9]", "L0 to L9, or 0 to 9")], _as_type(kind.number)]  # type: ignore[misc]


if TYPE_CHECKING:
    Scoring = StrictModel
else:
    Scoring = create_model(
        "Scoring",
        __base__=StrictModel,
        __doc__="How the figures of an audit are made: the settings that it gives; docs/measures.md explains each.",
        **{name: (_as_type(declared.kind) | None, None) for name, declared in SETTINGS.items()},
    )
