"""An audit file as it is written, before its names are resolved."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from harvest.audits.threshold import Threshold
from topics.document import StrictModel

__all__ = ["AuditFile", "Scoring", "SystemEntry"]


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$", max_length=60)]


Positive = Annotated[int, Field(ge=1)]


Share = Annotated[float, Field(ge=0, le=1)]


Seconds = Annotated[float, Field(ge=0, le=86400)]


class SystemEntry(StrictModel):
    """A system as an audit file gives it; docs/commands.md says what each key means."""

    name: Name
    driver: str
    options: dict[str, Any] = Field(default_factory=dict)
    session: Literal["fresh", "continued"] = "fresh"
    concurrency: Positive = 1
    rate: str | None = None
    delay: Seconds | None = None
    turn_timeout: Annotated[float, Field(gt=0, le=86400)] = 300
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    retry_wait: Seconds = 1
    attempts: Annotated[int, Field(ge=1, le=20)] = 2
    give_up_after: Positive = 10


class Scoring(StrictModel):
    """How the figures of an audit are made: the settings that it gives; docs/measures.md says what each means."""

    patience: Positive | None = None
    gains: dict[Annotated[str, Field(pattern=r"^L?[0-9]$")], Share] | None = None
    alpha: Share | None = None
    weights: dict[str, Annotated[float, Field(ge=0)]] | None = None
    ordinal: Literal["RNOD", "NMD"] | None = None
    irrelevant: Literal["ignore", "uniform"] | None = None
    turn_weight: Literal["one", "largest-pw"] | None = None
    level: Annotated[float, Field(gt=0, lt=1)] | None = None
    replications: Annotated[int, Field(ge=100, le=1_000_000)] | None = None
    resample: Literal["topics", "topics+trials", "bootstrap-t"] | None = None
    shares: Literal["unseen-topic", "bootstrap", "wilson"] | None = None


class AuditFile(StrictModel):
    """An audit file as it is written, before its names are resolved."""

    format: Literal["harvest-audit/1"]
    name: Name
    about: str = ""
    topics: str
    only: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    protocol: str
    gold: str | None = None
    trials: Annotated[int, Field(ge=1, le=1_000_000)]
    seed: Annotated[int, Field(ge=0)] = 1
    systems: Annotated[tuple[SystemEntry, ...], Field(min_length=1)]
    groups: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    endpoints: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    evidence: bool = True
    max_invalid: Share = 0.1
    scoring: Scoring = Scoring()
    thresholds: tuple[Threshold, ...] = ()
