"""Workers of this machine: a process for each shard that is played at a time, without a scheduler.

A worker reads its assignment from its standard input and writes its result to its standard output, both pickled.
Everything else that it prints goes to standard error. It has a separate process group, so that only the command
receives ctrl-C; it then tells the workers to give up their turns. A worker whose command has died stops, too.
"""

import os
import pickle
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from harvest.cluster.shard_task import Assignment, ShardResult, play_shard
from topics.errors import InputError

_MOST_DEATHS = 3  # of the worker of one shard; what it had finished is not lost


class PlayedShard:
    """A shard that a process plays. If the process dies, another process continues with the shard."""

    def __init__(self, task: Assignment) -> None:
        self.task = task
        self._deaths = 0
        self._begin()

    def _begin(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harvest.cluster.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.answers = self.process.stdout
        with suppress(BrokenPipeError), self.process.stdin as assignments:  # it may be dead already
            assignments.write(pickle.dumps(self.task))

    def result(self) -> ShardResult | None:
        """Return the result, or None if another process has to continue. Waits for the end of the process. Raises
        InputError after the third death."""
        with self.answers:
            said = self.answers.read()
        if self.process.wait() == 0 and said:
            result: ShardResult = pickle.loads(said)
            return result
        self._deaths += 1
        if self._deaths == _MOST_DEATHS:
            raise InputError(
                f"the worker of shard {self.task.index} ended {_MOST_DEATHS} times without a result; its last exit "
                f"code was {self.process.returncode}",
                advice="repeat the command with fewer workers, or without --workers",
            )
        self._begin()
        return None


class Processes:
    """The workers of this machine, as `harvest.cluster.spreading` plays on them."""

    def start(self, task: Assignment) -> PlayedShard:
        return PlayedShard(task)

    def wait(self, shards: Sequence[PlayedShard]) -> dict[PlayedShard, ShardResult]:
        """Wait until at least one shard is done, and return those that are."""
        done: dict[PlayedShard, ShardResult] = {}
        while not done:
            ready, _, _ = select.select([one.answers for one in shards], [], [])
            done = {one: result for one in shards if one.answers in ready and (result := one.result())}
        return done

    def abandon(self, shards: Sequence[PlayedShard]) -> None:
        """Wait for workers that were told to stop."""
        for one in shards:
            one.process.wait()


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a system in this process may print
    task: Assignment = pickle.load(sys.stdin.buffer)
    result = play_shard(task)
    with answers:
        pickle.dump(result, answers)


if __name__ == "__main__":
    _serve()
