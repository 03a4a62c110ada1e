"""The choice behind an action, and how a user without labels understands an answer."""

from contextlib import suppress
from dataclasses import replace

from protocols.answer import Answer, Exchange
from protocols.choice import Choice
from protocols.route import Say, Stop
from protocols.rules.empty import Empty
from protocols.rules.error_page import ErrorPage
from protocols.rules.refusal import Refusal
from protocols.rules.rule import Sight
from simulators.scenario import Observation, State
from simulators.user import EnumerableUser, User
from topics.topic import Topic


def with_choice(user: User, state: State, observation: Observation | None, action: Say | Stop) -> Say | Stop:
    """Return `action` with its probability and the hazard of leaving, if the user's `distribution` lists them. The
    recording is valid without them, so an error in `distribution` leaves the action as it is."""
    known = action.choice or Choice()
    if known.probability is not None or not isinstance(user, EnumerableUser):
        return action
    with suppress(Exception):
        found, leaving = 0.0, dict[str, float]()
        for chance in user.distribution(state, observation):
            other = chance.action
            if isinstance(other, Stop):
                leaving[other.reason] = leaving.get(other.reason, 0.0) + chance.probability
            elif isinstance(action, Say) and other.state == action.state:
                found += chance.probability
        if isinstance(action, Stop):
            found = leaving.get(action.reason, 0.0)
        if 0 < found < 1 + 1e-9:
            return replace(action, choice=replace(known, probability=min(found, 1.0), leaving=leaving))
    return action


def judge_unlabelled(topic: Topic, answer: Answer) -> str:
    """Judge an answer without a label: every answer counts except an empty one, an error page and a refusal."""
    sight = Sight(topic, (Exchange("", answer),))
    judged = {"empty": Empty().judge, "error-page": ErrorPage().judge, "refusal": Refusal().judge}
    return next((name for name, judge in judged.items() if judge(sight).holds), "answered")
