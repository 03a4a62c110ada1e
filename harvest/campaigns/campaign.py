"""Campaigns: a file that says which track is played, with which user or system, and under which name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harvest.audits.audit_file import Name
from harvest.audits.exposures import refuse_keys_in_clear
from harvest.audits.probes import check_harm, new_sessions
from harvest.campaigns.ledger import open_ledger
from harvest.campaigns.sides import Side, SystemSide, UserSide
from harvest.campaigns.submission import Submission
from harvest.campaigns.track import TrackFile, TrackServer, read_track
from harvest.drivers.options import Seconds, Url, WireOptions
from harvest.drivers.registry import build_driver, read_exposure
from harvest.drivers.wire import Wire
from harvest.systems.driver import Capabilities, Surroundings
from harvest.systems.exposure import Exposure
from harvest.systems.timing import REAL_CLOCK, Clock
from harvest.voices.endpoint import EndpointOptions
from harvest.voices.endpoints import read_endpoints
from protocols.library import load_protocol, protocol_hash
from recordings.secrets.redaction import Redactor
from simulators.registry import build_users, file_hashes
from topics.document import Document, StrictModel, read_document
from topics.errors import InputError
from topics.identity import content_hash

# What a track can do, as a driver of a system would say it: utterances are text.
_TRACK = Capabilities(stateful=True)


class SystemEntry(StrictModel):
    """The system that plays the agent's side."""

    name: Name
    driver: str
    options: dict[str, Any] = Field({})


class CampaignFile(WireOptions):
    """A campaign file. docs/campaigns.md explains each key."""

    format: Literal["harvest-campaign/1"]
    name: Name
    description: str = Field(min_length=1)
    track: str
    url: Url
    api: dict[str, Any] = Field({})
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (1,)
    protocol: str | None = None
    group: Name | None = None
    endpoints: dict[Name, dict[str, Any]] = Field({})
    harm: Literal["declared"] | None = None
    closing: str = Field("Thank you, that is all.", min_length=1)
    system: SystemEntry | None = None
    settle: Annotated[float, Field(ge=0, le=3600)] = 30.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 5
    wait: Seconds = 1.0


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign that was read. `exposures` lists the servers, variables and code that it uses."""

    document: Document
    file: CampaignFile
    track: TrackFile
    exposures: tuple[Exposure, ...]

    @property
    def folder(self) -> Path:
        return Path(self.document.path).resolve().parent

    def run_id(self, seed: int) -> str:
        """Return the track's id of the run with this seed."""
        return f"{self.file.name}-{seed}"

    @contextmanager
    def submission(
        self, seed: int, path: Path, *, debug: bool, report: Callable[[str], object], clock: Clock = REAL_CLOCK
    ) -> Iterator[Submission]:
        """Open the run with this seed, whose ledger is at `path`. Raises InputError for a missing variable or file, and
        RunError if the ledger is of another run."""
        secrets: set[str] = set()
        around = Surroundings(f"track {self.file.track}", self.folder, secrets=secrets, clock=clock)
        connection = WireOptions(**{name: getattr(self.file, name) for name in WireOptions.model_fields})
        with self.document.add_place(()):
            wire = Wire(connection, replace(around, exposure=self.exposures[0]))
        side, identity = self._side(seed, replace(around, system=self.file.name))
        opening = {
            "run_id": self.run_id(seed),
            "track": self.file.track,
            "url": self.file.url,
            "debug": debug,
            "seed": seed,
            "side": self.track.side,
            "system": self._system_name,
            "speaker": identity,
        }
        server = TrackServer(
            *(self.track, wire, self.file.url, self.run_id(seed)), description=self.file.description, debug=debug
        )
        file = self.file
        with open_ledger(path, opening, Redactor(secrets)) as ledger:
            yield Submission(ledger, server, side, report, file.settle, file.attempts, file.wait, clock)

    @property
    def _system_name(self) -> str:
        """The name of the assistant in the recording: our system's, or the track's own."""
        return self.file.system.name if self.file.system is not None else self.file.track

    def _side(self, seed: int, around: Surroundings) -> tuple[Side, str]:
        """Return our side, and its identity."""
        file, document = self.file, self.document
        if file.system is not None:
            driver = build_driver(
                file.system.driver, file.system.options, around, document=document, loc=("system", "options")
            )
            return SystemSide(driver, file.system.name, seed), content_hash("campaign", file.system.model_dump())
        assert file.protocol is not None
        with document.add_place(("protocol",)):
            named = self.folder / file.protocol
            protocol = load_protocol(named if named.is_file() else file.protocol)
            if missing := sorted(need for need in protocol.needs if not getattr(_TRACK, need, False)):
                what = f"the protocol {protocol.name!r} needs {', '.join(missing)}, which no track supports"
                raise InputError(what, advice="choose a protocol that does not need it")
            if new_sessions(protocol):
                what = f"the users of the protocol {protocol.name!r} return in new sessions, which no track has"
                raise InputError(what, advice="choose another protocol")
            users = build_users(protocol)
            endpoints = read_endpoints(document, file.endpoints, around)
            endpoints.check(protocol)
        check_harm(document, file.harm, (protocol,))
        parts = [protocol_hash(protocol), file_hashes(protocol), endpoints.definition(), file.closing, file.group]
        return UserSide(protocol, users, endpoints, seed, file.closing, file.group or ""), content_hash(
            "campaign", parts
        )


def load_campaign(path: Path, *, keys_in_clear: bool = False) -> Campaign:
    """Read a campaign file. Nothing is sent, and no secret is read. `keys_in_clear` allows keys to be sent to other
    machines over plain http. Raises InputError, with file, line and column."""
    document = read_document(path)
    file = document.validate_as(CampaignFile)
    folder = Path(document.path).resolve().parent
    track = read_track(file.track, file.api, document, folder)
    ours, others = ("protocol", "system") if track.side == "user" else ("system", "protocol")
    if getattr(file, ours) is None:
        what = f"the track {file.track!r} has the {'assistant' if ours == 'protocol' else 'user'}, so a campaign needs "
        what += "a protocol with simulated users" if ours == "protocol" else "a system"
        raise document.error((), what, advice=f"add {ours}: …")
    if getattr(file, others) is not None:
        raise document.error(
            (others,), f"the track {file.track!r} plays this side itself", advice=f"remove {others}", key=True
        )
    exposures = [Exposure.from_options(f"track {file.track}", file)]
    for name in file.endpoints:
        options = document.part(("endpoints", name)).validate_as(EndpointOptions)
        exposures.append(Exposure.from_options(f"endpoint {name}", options))
    if file.system is not None:
        entry, loc = file.system, ("system", "options")
        exposures.append(
            read_exposure(
                entry.driver,
                entry.options,
                entry.name,
                folder,
                document=document,
                loc=loc if loc in document.marks else loc[:1],
            )
        )
    if not keys_in_clear:
        refuse_keys_in_clear(exposures, document)
    return Campaign(document, file, track, tuple(exposures))
