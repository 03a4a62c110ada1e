"""A run of the system `echo` written by the store, for tests that play it back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings
from recordings.conversations.conversation import Outcome, TrialKey
from recordings.events.events import Answered, Asked, TrialEnded, TrialStarted
from recordings.log.header import make_header, trial_identity
from recordings.log.store import RunWriter
from tests.servers import echo


async def record(path: Path, turns: Sequence[str], *, trials: int, invalid: int = 0, name: str = "echo") -> None:
    """Ask `echo` the turns in each trial.

    invalid: the number of a trial recorded as an invalid one. name: the system's in the recording.
    """
    options = {"function": f"{echo.__file__}:answer"}
    definition = {"name": name, "driver": "python", "options": {"function": "echo.py:answer"}}
    header = make_header(audit={"name": "echo"}, protocol=None, topics=None, systems={name: definition})
    driver = build_driver("python", options, Surroundings("echo", path.parent))
    writer = RunWriter.create(path, header)
    try:
        for trial in range(1, trials + 1):
            identity = trial_identity(None, "M002", definition, trial)
            session = await driver.open(Opening("echo", "M002", trial, trial))
            await writer.append(TrialStarted(identity, TrialKey(name, "M002", trial), 1))
            for number, text in enumerate(turns, start=1):
                await writer.append(Asked(identity, 1, number, "asking", text))
                await writer.append(Answered(identity, 1, number, (await session.say(text)).turn))
            outcome = Outcome("invalid", "timeout") if trial == invalid else Outcome("completed")
            await writer.append(TrialEnded(identity, 1, outcome), sync=True)
    finally:
        await writer.close()
        await driver.close()
