"""A driver that plays a recorded run, giving the recorded answers to the recorded user turns."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from harvest.drivers.received import excerpt
from harvest.systems.driver import Capabilities, Driver, NothingHeld, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Answer, Offer
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from topics.counting import pluralize
from topics.document import StrictModel
from topics.errors import HarvestError, InputError
from topics.sent_files import SentFile


class Options(StrictModel):
    """Options of a recorded run. An attempt is played if it counts for its trial and its conversation was finished."""

    run: str = Field(min_length=1, description="the run's folder; a path starts at the audit file")
    system: str | None = Field(None, description="the system's name in that run, if it is different")
    topics: dict[str, str] = Field({}, description="topic ids in that run by those of the audit, if they are different")
    play: Literal["trials", "branches"] = Field(
        "trials",
        description="`trials`: each trial as it was; `branches`: any recorded answer to the same words after the same "
        "conversation, drawn as often as it came",
    )


class ReplayDriver(NothingHeld):
    """Driver for the recorded conversations of one system."""

    def __init__(self, options: Options, recorded: dict[TrialKey, Conversation]) -> None:
        self._options, self._recorded = options, recorded

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(stateful=True, greets=True, presses=True, attaches=("*/*",))

    async def open(self, opening: Opening) -> "_Session":
        """Open the recorded trial. Raises Unanswered (`not-recorded`) if its conversation is missing or incomplete."""
        topic = self._options.topics.get(opening.topic, opening.topic)
        key = TrialKey(self._options.system or opening.system, topic, opening.trial)
        conversation = self._recorded.get(key)
        if conversation is None:
            detail = (
                f"{self._options.run} has no complete conversation with {key.system}, {key.topic}, trial {key.trial}"
            )
            raise Unanswered("not-recorded", detail)
        return _Session(conversation, opening.before)


class _Session(NothingHeld):
    def __init__(self, conversation: Conversation, before: int) -> None:
        self._turns: tuple[Turn, ...] = conversation.turns
        self._next = before

    @property
    def greeting(self) -> Answer | None:
        first = self._turns[self._next].reply if self._next < len(self._turns) else None
        return first.heard_first if first is not None else None

    async def press(self, offer: Offer) -> Reply:
        return await self.say(offer.title)

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        """Return the recorded reply. Raises Unanswered (`diverged`) if other files were recorded."""
        if self._next < len(self._turns) and self._turns[self._next].attached != tuple(files):
            raise Unanswered("diverged", f"turn {self._next + 1} was recorded with other files")
        return await self.say(text)

    async def say(self, text: str) -> Reply:
        """Return the recorded reply. Raises Unanswered (`diverged`) if the user turn differs from the recording."""
        number = self._next + 1
        if self._next >= len(self._turns):
            held = pluralize(len(self._turns), "turn")
            raise Unanswered("diverged", f"the recording has {held}, so turn {number} has no answer")
        turn = self._turns[self._next]
        if turn.said != text:
            at = next((i for i, (a, b) in enumerate(zip(turn.said, text)) if a != b), min(len(turn.said), len(text)))
            around = slice(max(0, at - 20), None)
            detail = (
                f"turn {number} differs from character {at + 1} on: recorded {excerpt(turn.said[around], 80)!r}, now "
                f"{excerpt(text[around], 80)!r}"
            )
            raise Unanswered("diverged", detail)
        if turn.reply is None:
            raise Unanswered("not-recorded", f"turn {number} was asked in the recording but never answered")
        self._next += 1
        # Evidence stays in the run it was recorded in: its addresses mean nothing in another folder.
        return Reply(replace(turn.reply, evidence=MappingProxyType({})))


def build(options: Options, surroundings: Surroundings) -> Driver:
    """Read the run. Raises InputError if the run does not exist or does not contain the system or the topics."""
    from recordings.log.run_folder import read

    path = surroundings.folder / options.run
    if not path.is_dir():
        raise InputError(f"run: there is no folder {path}", advice="give the folder that `harvest run --out` wrote")
    try:
        run = read(path)
    except InputError:
        raise
    except HarvestError as fault:
        raise InputError(f"run: {fault}") from None
    recorded = {conversation.key: conversation for conversation in run.finished}
    names = (options.system,) if options.system else surroundings.recorded_as or (surroundings.system,)
    systems = sorted({key.system for key in recorded})
    for name in names:
        if name in systems:
            continue
        raise InputError(
            f"run {options.run} has no complete conversation with a system {name!r}",
            allowed=", ".join(systems) or "none: the run has no complete conversation",
            advice="name the recorded system with the option `system`",
        )
    known = {key.topic for key in recorded if key.system in names}
    for topic in options.topics.values():
        if topic not in known:
            raise InputError(f"run {options.run} has no topic {topic!r}", allowed=", ".join(sorted(known)))
    if options.play == "trials":
        return ReplayDriver(options, recorded)
    if len(names) > 1:
        raise InputError(
            f"`play: branches` needs a single system, but the run has {len(names)}, one for each group of users",
            advice="name a system with the option `system`, or write `play: trials`",
        )
    from harvest.drivers.replay_tree import BranchingReplay  # late: brings numpy

    by_topic: dict[str, list[Conversation]] = {}
    for key in sorted(recorded):
        if key.system == names[0]:
            by_topic.setdefault(key.topic, []).append(recorded[key])
    return BranchingReplay(by_topic, options.topics, options.run)
