"""The assignment of a cluster task and its result, which travel between processes."""

from dataclasses import dataclass, replace
from pathlib import Path

from harvest.audits.audit import Audit, load_audit
from recordings.log.header import Header
from recordings.log.shard import Shard
from topics.identity import content_hash


@dataclass(frozen=True, slots=True)
class Assignment:
    """A shard of an audit.

    audit: its file, by a path that exists for all workers. trials, seed, only: arguments of the command; None for
    those of the audit. index, of: the number of the shard and of all shards. folder: the folder of all shards, shared
    by all workers; if there is a store, each worker has its own, relative to where it was started. store: the address
    of the store, or "". at_once: the number of shards that are played at the same time. keys_in_clear: allow keys to
    be sent to other machines over http.
    """

    audit: str
    trials: int | None = None
    seed: int | None = None
    only: tuple[str, ...] | None = None
    index: int = 1
    of: int = 1
    folder: str = ""
    store: str = ""
    at_once: int = 1
    keys_in_clear: bool = False

    @property
    def name(self) -> str:
        """The name of the shard in the folder and in the store."""
        return f"{self.index}-of-{self.of}"

    @property
    def run(self) -> Path:
        """The run folder of the shard."""
        return Path(self.folder) / self.name

    @property
    def stop(self) -> Path:
        """A file that stops all shards if it exists."""
        return Path(self.folder) / "stop"

    def load(self) -> Audit:
        """Load the audit with this worker's share of concurrent sessions. The pace is shared by the turn. Raises
        InputError."""
        audit = load_audit(
            self.audit, trials=self.trials, seed=self.seed, only=self.only, keys_in_clear=self.keys_in_clear
        )
        systems = tuple(
            replace(
                system, limits=replace(system.limits, concurrency=max(1, system.limits.concurrency // self.at_once))
            )
            for system in audit.systems
        )
        return replace(audit, systems=systems, shard=Shard(self.index, self.of))


@dataclass(frozen=True, slots=True)
class Told:
    """The result of an assignment. played: the number of trials played now. left: the systems that were given up, with
    reasons. fault: why the shard was not finished, or ""."""

    played: int = 0
    left: tuple[tuple[str, str], ...] = ()
    fault: str = ""


def audit_hash(header: Header) -> str:
    """Return a hash that is equal on two machines if they would play the same audit."""
    hashes = {key: header.hashes[key] for key in sorted(header.hashes)}
    return content_hash("audit", {"seed": header.seed, "hashes": hashes})
