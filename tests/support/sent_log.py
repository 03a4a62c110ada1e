"""Loaded into the workers of a cluster (`tests.support.cluster`): keeps when each turn went out, by the monotonic clock
that all processes of this machine share; also of turns of which nothing is recorded, because the worker was killed."""

from __future__ import annotations

import os

from harvest.cluster.shared_pace import SharedGate

_kept = SharedGate._sent
_log = os.open(os.environ["SENT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _sent(gate: SharedGate, at: float) -> None:
    _kept(gate, at)
    turn = "the same" if gate._holding else "new"  # told again where a connection took its time
    os.write(_log, f"{os.getpid()}-{id(gate)}\t{turn}\t{at!r}\n".encode())


SharedGate._sent = _sent  # type: ignore[assignment, method-assign]
