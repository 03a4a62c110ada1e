"""What one task of a cluster plays, and what it says of it: values that travel between processes."""

from dataclasses import dataclass, replace
from pathlib import Path

from harvest.audits.audit import Audit, load_audit
from recordings.log.header import Header
from recordings.log.shard import Shard
from topics.identity import content_hash


@dataclass(frozen=True, slots=True)
class Assignment:
    """A shard of an audit.

    audit: its file, by a path that all workers know. trials, seed, only: as the command was given them; None for those
    of the audit. index, of: of the shard. folder: of all shards, shared by all workers; where there is a store, each
    has its own, and this path begins where the worker was started. store: its address, "" for none. at_once: how many
    shards are played at a time, all together. keys_in_clear: keys may be sent over http to other machines.
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
        """Of the shard, in the folder and in the store."""
        return f"{self.index}-of-{self.of}"

    @property
    def run(self) -> Path:
        """The run folder of the shard."""
        return Path(self.folder) / self.name

    @property
    def stop(self) -> Path:
        """A file; where it is there, nothing more is to be played."""
        return Path(self.folder) / "stop"

    def load(self) -> Audit:
        """The audit with its share of sessions at a time, and the whole pace, which workers share by the turn. Raises
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
    """What became of an assignment. played: trials that were played now. left: systems that were left alone, by name,
    and why. fault: why it could not be played to its end; "" where it was."""

    played: int = 0
    left: tuple[tuple[str, str], ...] = ()
    fault: str = ""


def audit_hash(header: Header) -> str:
    """The same on two machines that would play the same audit."""
    hashes = {key: header.hashes[key] for key in sorted(header.hashes)}
    return content_hash("audit", {"seed": header.seed, "hashes": hashes})
