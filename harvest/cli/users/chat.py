"""`harvest users chat`: let a person play the user, and record the conversation."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import click

from harvest.audits.audit import Audit, load_audit
from harvest.audits.system import System, choose_system
from harvest.cli.exposures import keys_in_clear_option
from harvest.cli.interruption import Interrupted, run_until_stopped
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.playing.attempt import Player
from harvest.playing.plan import Plan, Sitting, Work
from harvest.playing.play import first_error
from harvest.playing.runner import Runner
from harvest.terminal import print_message, printable
from harvest.voices.keyboard import STOP, Keyboard
from recordings.conversations.conversation import Outcome, TrialKey
from recordings.log.continuation import refuse_differences
from recordings.log.header import make_header, trial_identity
from recordings.log.run_folder import Run, count_begun_files, is_run, read
from recordings.log.store import RunWriter
from simulators.human import HumanUser
from topics.errors import HarvestError, InputError
from topics.topic import Topic


@click.command(cls=ShortHelp)
@click.argument("audit", type=PathArgument(str))
@click.option("--system", "system_name", metavar="NAME", help="System of the audit [default: its only one].")
@click.option("--topic", "topic_id", metavar="ID", required=True, help="Topic of the audit.")
@click.option("--out", type=PathArgument(), metavar="RUN", help="The run folder [default: runs/NAME-chat].")
@click.option(
    "--trial",
    type=WholeNumberRange(1, 1_000_000),
    help="Number of the trial [default: the first that is not recorded].",
)
@keys_in_clear_option
def command(
    audit: str, system_name: str | None, topic_id: str, out: Path | None, trial: int | None, keys_in_clear: bool
) -> int:
    r"""Play the user yourself and record the conversation.

    AUDIT is a file, or a shipped name such as `demo`. It provides the topics and the systems; its protocol is not
    played.

    Type a turn and press Enter; pasted text is one turn. A \ at the end of a line continues the turn on the next line.
    /stop, or ctrl-D on an empty line, ends the conversation. Ctrl-C interrupts it, and everything said before remains
    recorded.
    """
    resolved = load_audit(audit, keys_in_clear=keys_in_clear)
    topic = resolved.topics[topic_id]
    system = choose_system(resolved.systems, system_name)
    folder = (out or Path("runs") / f"{resolved.name}-chat").absolute()
    outcome = _play_chat(resolved, system, topic, folder, trial)
    return 0 if outcome is not None and outcome.valid else 3


def _play_chat(audit: Audit, system: System, topic: Topic, folder: Path, trial: int | None) -> Outcome | None:
    watcher = _Watcher()
    # As a run's, without the protocol, so that neither command can continue in the folder of the other.
    header = make_header(
        audit={"name": audit.name, "about": audit.about, "topics": audit.topics.name, "user": HumanUser().name},
        protocol=None,
        topics=audit.topics,
        systems={system.name: system.definition() for system in audit.systems},
        seed=audit.seed,
        folder=audit.folder,
    )
    before = count_begun_files(folder)

    async def play() -> None:
        if is_run(folder):
            refuse_differences(read(folder).header, header, folder)
        async with RunWriter.open(folder, header, secrets=audit.secrets) as writer:
            recorded = read(folder)  # again, now that no other process writes
            for sentence in recorded.damage:
                print_message(f"note: {sentence}")
            work = _next_trial(recorded, system, topic, trial)
            plan = Plan({system.name: (Sitting((work,)),)}, 1, 0, 0, 0)
            once = replace(system, limits=replace(system.limits, attempts=1))  # no repetition for a person
            with Keyboard(sys.stdin.fileno(), print_message) as keyboard:  # before asking a person to type
                print_message(f"system {system.name}, topic {topic.id}, trial {work.key.trial}")
                print_message(f"what you want: {printable(topic.request)}")
                print_message(f"type your first turn; {STOP} or ctrl-D ends the conversation")
                if not await keyboard.has_begun():
                    print_message("nothing was said, and nothing is recorded")
                    return
                player = Player(writer, HumanUser(), audit.seed, keep_evidence=audit.evidence, words=keyboard)
                await Runner(player, (once,), {system.name: audit.drivers[system.name]}, watcher).play(plan)

    try:
        run_until_stopped(play())
    except* HarvestError as group:
        raise first_error(group) from None
    except* KeyboardInterrupt:
        if count_begun_files(folder) == before:
            raise Interrupted("\ninterrupted; nothing was recorded, and the same command starts again") from None
        raise Interrupted(f"\ninterrupted; every answered turn is in {_folder_name(folder)}") from None
    outcome = watcher.outcome
    if outcome is not None:
        if outcome.kind == "system-ended":  # nobody was asked for a turn after it, so it is not yet shown
            played = (system.name, topic.id)
            own = [one for one in read(folder).conversations if (one.key.system, one.key.topic) == played]
            for exchange in max(own, key=lambda one: one.started_at).exchanges[-1:]:
                print_message(f"\n{printable(exchange.answer.text)}")
        detail = f": {outcome.detail}" if outcome.detail else ""
        ended = printable(f"{outcome.kind} ({outcome.reason}){detail}", line=True)
        print_message(f"\n{ended}; recorded in {_folder_name(folder)}")
    return outcome


def _next_trial(recorded: Run, system: System, topic: Topic, trial: int | None) -> Work:
    of_these = [one for one in recorded.conversations if (one.key.system, one.key.topic) == (system.name, topic.id)]
    if trial is None:
        finished = {one.key.trial for one in of_these if one.valid}
        trial = next(number for number in range(1, len(finished) + 2) if number not in finished)
    tries = [one for one in of_these if one.key.trial == trial]
    if any(one.valid for one in tries):
        raise InputError(
            f"trial {trial} of {system.name!r} on {topic.id!r} is already recorded", advice="leave out --trial"
        )
    key = TrialKey(system.name, topic.id, trial)
    identity = trial_identity(None, topic, system.definition(), trial)
    return Work(key, topic, identity, max((one.attempt for one in tries), default=0) + 1)


def _folder_name(folder: Path) -> str:
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)


@dataclass(slots=True)
class _Watcher:
    outcome: Outcome | None = None

    def turn_asked(self, work: Work) -> None:
        print_message("…")

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        self.outcome = outcome

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        """Do nothing, because the message about the attempt already reports it."""

    def pace_lowered(self, system: str, why: str) -> None:
        """Do nothing, because one person asks slowly anyway."""
