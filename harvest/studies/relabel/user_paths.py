"""Paths of recorded conversations in which a simulated user speaks, under another protocol.

A simulated user learns the label of each answer, and may continue differently after another label. A user without a
model draws the same numbers again, so its words can be computed: this is done if the protocol of the run, played again
on the recorded answers, gives exactly the recorded turns. Otherwise nothing after a changed label is known, nor after
the first turn of a user that the new protocol defines otherwise.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from harvest.studies.relabel.rerouting import DecidedPath, describe_parting
from protocols.protocol import Protocol
from protocols.route import Say, Stop
from recordings.conversations.conversation import Conversation, Outcome
from recordings.log.run_folder import Run
from simulators.promises import initial_state, next_action
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import Observation, Scenario, Streams
from topics.topic import Topic


@dataclass(frozen=True)  # without slots, for cached properties
class UserPaths:
    """Follows conversations of `run` under the protocol `new`. `old` is the protocol of the run."""

    run: Run
    old: Protocol
    new: Protocol

    def follow(self, path: DecidedPath, one: Conversation, topic: Topic) -> DecidedPath:
        """Return the path up to the first turn where a simulated user would or might have continued differently."""
        if not any(turn.user for turn in one.turns):
            return path
        drawn = self._drawn_path(path, one, topic)
        return self._path_that_was_heard(path, one) if drawn is None else drawn

    @cached_property
    def _users(self) -> tuple[ScriptedUser, ScriptedUser] | None:
        """The players of both protocols; None if their users cannot be built here, as with a model or a lost file."""
        with suppress(Exception):  # users may be of other packages
            return ScriptedUser(self.old, build_users(self.old)), ScriptedUser(self.new, build_users(self.new))
        return None

    def _drawn_path(self, path: DecidedPath, one: Conversation, topic: Topic) -> DecidedPath | None:
        """Return the path with what the users draw again; None if they do not draw the recorded turns again."""
        definition = self.run.header.systems.get(one.key.system)
        changed = one.member or (isinstance(definition, dict) and definition.keys() & {"arm", "group"})
        if changed or self._users is None:
            return None
        old, new = self._users
        with suppress(Exception):  # as above; a model's words come from outside
            recorded = list(self._actions(old, one, topic))
            if not _is_recorded(recorded, one):
                return None
            return _as_path(list(self._actions(new, one, topic)), path, one)
        return None

    def _actions(self, user: ScriptedUser, one: Conversation, topic: Topic) -> Iterator[Say | Stop]:
        """Yield the user's actions along the recorded answers, up to the first that was not recorded."""
        rng = Streams(self.run.header.seed, (user.name, one.key.topic, one.key.trial))
        state = initial_state(user, Scenario(topic, greeting=one.greeting), rng.at(0))
        seen: Observation | None = None
        for turn in one.turns:
            action, state = next_action(user, state, seen, rng.at(turn.number))
            yield action
            if not (isinstance(action, Say) and action.text == turn.said) or turn.reply is None:
                return
            seen = Observation(turn.reply.answer)
        yield next_action(user, state, seen, rng.at(len(one.turns) + 1))[0]

    def _path_that_was_heard(self, path: DecidedPath, one: Conversation) -> DecidedPath:
        spoken: set[str] = set()
        for turn in one.turns[: path.parted if path.because else len(one.turns)]:
            if turn.user and self.new.users.get(turn.user) != self.old.users.get(turn.user):
                why = f"the user {turn.user!r} is defined otherwise; what it would have said was not recorded"
                return DecidedPath(path.routes, turn.number - 1, why)
            heard = path.routes.get(turn.number - 1)
            was = one.label(turn.number - 1)
            if turn.user in spoken and heard is not None and was not in ("-", heard.label):
                return _parted_by_label(path, turn.number - 1, turn.user, heard.label, was)
            if turn.user:
                spoken.add(turn.user)
        last, left = len(one.turns), one.outcome is not None and one.outcome.kind == "user-stopped"
        heard, was = path.routes.get(last), one.label(last)
        if left and not path.because and spoken and heard is not None and was not in ("-", heard.label):
            user = next(turn.user for turn in reversed(one.turns) if turn.user)
            return _parted_by_label(path, last, user, heard.label, was)
        return path


def _is_recorded(actions: list[Say | Stop], one: Conversation) -> bool:
    said = [action for action in actions if isinstance(action, Say)]
    if [(action.text, action.user) for action in said[: len(one.turns)]] != [
        (turn.said, turn.user) for turn in one.turns
    ]:
        return False
    end, outcome = actions[-1], one.outcome
    if outcome is None or outcome.kind == "system-ended" or one.turns[-1].reply is None:
        return True
    return isinstance(end, Stop) and (end.outcome, end.reason) == (outcome.kind, outcome.reason)


def _as_path(actions: list[Say | Stop], path: DecidedPath, one: Conversation) -> DecidedPath:
    for turn, action in zip(one.turns, actions, strict=False):
        if isinstance(action, Say) and (action.text, action.user) == (turn.said, turn.user):
            continue
        after = turn.number - 1
        routes = {number: route for number, route in path.routes.items() if number < after}
        if action.route is not None:
            routes[after] = action.route
        cut = Outcome(action.outcome, action.reason) if isinstance(action, Stop) else None
        return DecidedPath(routes, after, describe_parting(after, action, turn), cut=cut)
    routes = dict(path.routes)
    end, last = actions[-1], len(one.turns)
    if len(actions) == last or one.outcome is None or one.outcome.kind == "system-ended":
        return DecidedPath(routes, outcome=one.outcome)
    if end.route is not None:
        routes[last] = end.route
    if isinstance(end, Stop):
        return DecidedPath(routes, outcome=Outcome(end.outcome, end.reason))
    return DecidedPath(routes, last, describe_parting(last, end, None))


def _parted_by_label(path: DecidedPath, turn: int, user: str, now: str, was: str) -> DecidedPath:
    why = (
        f"after the answer to turn {turn} the user {user!r} would have heard the label {now}, not {was}; what it would "
        "have done then was not recorded"
    )
    return DecidedPath(path.routes, turn, why)
