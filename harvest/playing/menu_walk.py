"""Walking a menu: a fresh conversation for each way through its buttons, recorded as trials of one topic.

The next press follows from the recording, so an interrupted walk continues where it ended.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harvest.audits.audit import Audit
from harvest.audits.system import System
from harvest.playing.attempt import Lease, Player
from harvest.playing.plan import Work
from harvest.systems.driver import Driver, Greeting, Opening
from harvest.systems.limits import BusyTracker, OpeningQueue, local_gate
from harvest.systems.load import Load
from recordings.conversations.conversation import TrialKey
from recordings.log.header import Header, make_header, trial_identities
from recordings.log.run_folder import Run, read
from recordings.log.store import RunWriter
from recordings.trees.menu import KnownBy, Menu, fold_menu
from simulators.menu import MenuUser
from topics.errors import InputError
from topics.identity import derived_seed
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class Walk:
    """How a menu is walked: with the opening words, or from the greeting if they are "", up to `depth` presses, each
    `least` times, those that lead to several pages `trials` times, and at most `most` conversations in all. `allow` has
    titles to press whatever they do. `by` says how a page is identified."""

    opening: str
    depth: int = 4
    least: int = 3
    trials: int = 20
    most: int = 500
    allow: tuple[str, ...] = ()
    by: KnownBy = "text"

    def fold(self, run: Run, system: System, topic: Topic) -> Menu:
        """Return the menu as recorded so far."""
        played = (one for one in run.conversations if (one.key.system, one.key.topic) == (system.name, topic.id))
        return fold_menu(sorted(played, key=lambda one: one.key.trial), opening=self.opening, by=self.by)

    def next_way(self, menu: Menu) -> tuple[str, ...] | None:
        """Return the titles to press in the next conversation, or None if the walk is over."""
        if menu.conversations >= self.most:
            return None
        return menu.next_way(depth=self.depth, least=self.least, trials=self.trials, allow=self.allow)


def walk_header(audit: Audit, walk: Walk) -> Header:
    """Return the header for the run of a walk. It is the header of the audit's runs without the protocol, which is not
    played."""
    return make_header(
        audit={"name": audit.name, "about": audit.about, "topics": audit.topics.name, "user": MenuUser("").name},
        protocol=None,
        topics=audit.topics,
        systems={system.name: system.definition() for system in audit.systems},
        seed=audit.seed,
        folder=audit.folder,
    )


async def walk_menu(
    audit: Audit, system: System, topic: Topic, walk: Walk, writer: RunWriter, progress: Callable[[Menu], None]
) -> str:
    """Play conversations into the run of `writer` until the walk is over, and return "", or why the system was left
    before. `progress` is called before each conversation. Raises StoreError if a turn cannot be written to disk."""
    driver, player = audit.drivers[system.name], Player(writer, MenuUser(walk.opening), audit.seed, audit.evidence)
    limits, clock = system.limits, player.clock
    busy = BusyTracker(limits.busy_timeout, clock, lambda _: None, limits.spacing)
    gate = local_gate(system.name, limits.spacing, Load(1, clock, lambda _: None), busy)
    openings = OpeningQueue(limits.retry_wait, limits.retries, clock)
    identity = trial_identities(None, system.definition())
    recorded = read(writer.run)
    menu = walk.fold(recorded, system, topic)
    own = [one.key for one in recorded.conversations if (one.key.system, one.key.topic) == (system.name, topic.id)]
    trial, invalid = max((key.trial for key in own), default=0), 0
    try:
        while (way := walk.next_way(menu)) is not None:
            progress(menu)
            trial += 1
            key = TrialKey(system.name, topic.id, trial)
            work = Work(key, topic, identity(topic, trial))
            user = MenuUser(walk.opening, way, walk.allow)
            lease = _lease(driver, work, player, openings)
            try:
                played = await replace(player, user=user).play(work, system, lease, gate, lambda: None)
            finally:
                await lease.close()
            if played.outcome.valid:
                invalid, last = 0, len(played.exchanges) - 1
                closed = played.outcome.kind == "system-ended"
                said = [(one.said, one.answer, closed and at == last) for at, one in enumerate(played.exchanges)]
                menu.add([("", played.heard, False), *said] if played.heard is not None else said)
                continue
            invalid += 1
            if played.denied or invalid >= limits.attempts:
                return f"{played.outcome.reason}: {played.outcome.detail}"
    finally:
        await driver.close()
    return ""


async def read_greeting(audit: Audit, system: System, topic: Topic) -> Menu:
    """Return the menu with the greeting as its only page. Nothing is pressed or recorded. Raises DriverError, and
    InputError if the system says nothing before the user does."""
    driver = audit.drivers[system.name]
    try:
        session = await driver.open(Opening(system.name, topic.id, 1, audit.seed))
        heard = session.greeting if isinstance(session, Greeting) else None
        await session.close()
    finally:
        await driver.close()
    if heard is None:
        raise InputError(f"{system.name!r} says nothing before the user does", advice="open the menu with --say")
    menu = Menu()
    menu.add([("", heard, False)])
    return menu


def _lease(driver: Driver, work: Work, player: Player, openings: OpeningQueue) -> Lease:
    key = work.key
    seed = derived_seed(player.seed, key.system, key.topic, key.trial, "system")
    opening = Opening(key.system, key.topic, key.trial, seed)
    return Lease(driver, opening, openings, f"{key.system}/{key.trial}/{key.topic}/{work.attempt}", 0)
