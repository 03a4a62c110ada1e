"""Compare playable users by their likelihood on held-out people, and choose the user to play.

Every candidate is fitted as in `harvest users fit` and followed decision by decision through its own plan. The figure
is thus about the user that is played, including its stop model and smoothing. AIC on the
training recordings has no influence.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from harvest.studies.users import fitted_users
from harvest.studies.users.fitted_users import Answers
from protocols.answer import Answer
from recordings.acts.dialogue import Dialogue
from scoring.simulation.act_model import Bits, Fit, HeldOutBits, Smoothing, acts_in, held_out_bits
from simulators import markov
from simulators.act_table import UNKNOWN
from simulators.fitted import HiddenFile
from simulators.hidden.fitting import Person, choose_recipe, fit_hidden, log_likelihoods
from simulators.hidden.model import HiddenModel
from simulators.hidden.tables import add_table
from simulators.hidden.user import model_options
from simulators.moves import PlanningUser
from simulators.user import Observation, Scenario, Streams
from topics.errors import InputError
from topics.identity import derived_seed
from topics.topic import Topic, TopicType

DEFAULT, HIDDEN, BOTH = "turn-and-act", "hidden-states", "hidden-and-table"
PERSON_KNOWN = "hidden-states, person known"

# The candidates that `harvest users fit` can write: tables and stop models, hidden states, and hidden states with half
# of the weight for the table of the default.
CANDIDATES = (*fitted_users.LEAVING, HIDDEN, BOTH)
_SHARE_OF_TABLE = 0.5  # prefers neither, and is not fitted: with .25 and .75 Sim4IA's interval was above 0, too

# Fewest people to choose a candidate other than the default: intervals over fewer are too narrow.
FEWEST = 20

_ENOUGH_DECISIONS = 50  # decisions after an answer, to fit separate transitions
_SCENARIO = Scenario(Topic("T1", TopicType("any"), "a request"))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The compared candidates and the choice.

    `held_out` has the figures of each candidate. The first candidate is the default; gains are relative to this
    default. `chosen` is the candidate with the fewest bits among the candidates whose gain has an interval above 0.
    Without such candidates, `chosen` is the default. `left_out` has the reason for each candidate without figures.

    `hidden-states, person known` is not a candidate. It has the bits of the user with hidden states if each
    dialogue of a person is predicted from the person's earlier dialogues. In a played conversation, the person is
    always new.
    """

    held_out: Mapping[str, HeldOutBits]
    chosen: str
    left_out: Mapping[str, str] = field(default_factory=dict)


def candidates(
    dialogues: Sequence[Dialogue],
    *,
    order: Literal[1, 2] = 1,
    answers: Answers = "nothing",
    smoothing: Smoothing | None = None,
    folds: int = 10,
    level: float = 0.95,
    seed: int = 0,
) -> Candidates:
    """Return the held-out bits of every candidate, in folds of people. The number of hidden states is chosen separately
    in each fold. If there is only one user, there are no figures."""
    if len({one.unit for one in dialogues}) < 2:
        return Candidates({}, DEFAULT)
    acts = acts_in(dialogues)
    left_out: dict[str, str] = {}
    fits: dict[str, Fit] = {}

    def with_stop(stop: str) -> Fit:
        def fit(training: Sequence[Dialogue]) -> Bits:
            options = fitted_users.fitted_options(
                training, order=order, answers=answers, smoothing=smoothing, stop=stop, acts=acts
            )
            user = markov.build(options.model_copy(update={"words": dict.fromkeys(options.acts, ("-",))}))
            return lambda theirs: played_bits(user, theirs, answers)

        return fit

    for stop in fitted_users.LEAVING:
        try:
            with_stop(stop)(dialogues)
        except InputError as fault:
            left_out[stop] = fault.what
        else:
            fits[stop] = _allow_failed_fit(with_stop(stop))
    learnt: dict[frozenset[str], HiddenModel] = {}

    def hidden(training: Sequence[Dialogue]) -> HiddenModel:
        key = frozenset(one.unit for one in training)
        if key not in learnt:
            learnt[key] = learn_hidden(training, answers=answers, acts=acts, seed=seed)
        return learnt[key]

    def together(training: Sequence[Dialogue], *, known: bool) -> Bits:
        model = hidden(training)
        return lambda theirs: (
            -float(log_likelihoods(model, people_of(theirs, answers), together=known).sum()) / math.log(2)
        )

    def both(training: Sequence[Dialogue]) -> Bits:
        model = with_table(hidden(training), training, answers=answers, smoothing=smoothing)
        return lambda theirs: (
            -float(log_likelihoods(model, people_of(theirs, answers), together=False).sum()) / math.log(2)
        )

    fits[HIDDEN] = lambda training: together(training, known=False)
    if order == 1:
        fits[BOTH] = both
    if len({one.unit for one in dialogues}) < len(dialogues):
        fits[PERSON_KNOWN] = lambda training: together(training, known=True)
    rng = np.random.default_rng(derived_seed(seed, "fit", "folds"))
    found = held_out_bits(dialogues, fits, rng, folds=folds, level=level)
    for name in [name for name, one in found.items() if not math.isfinite(one.bits)]:
        left_out[name] = "it cannot be fitted to some of the folds, or makes something impossible that people did"
        del found[name]
    better = {
        name: one.bits for name, one in found.items() if name in CANDIDATES and one.low > 0 and one.units >= FEWEST
    }
    return Candidates(found, min(better, key=lambda name: better[name], default=DEFAULT), left_out)


def played_bits(user: PlanningUser[Any], dialogues: Sequence[Dialogue], answers: Answers = "nothing") -> float:
    """Return -log2 of the probability of the acts, inf if it is 0. Each dialogue has a new person."""
    total = 0.0
    for one in dialogues:
        state, seen = user.start(_SCENARIO, Streams(0)), None
        for turn in (*one.turns, *((None,) if one.ended else ())):
            probability, state = user.follow(state, seen, turn.act if turn else None)
            if probability <= 0:
                return math.inf
            total -= math.log2(probability)
            if turn:
                seen = Observation(Answer("-"), turn.answer if answers == "labels" else None)
    return total


def learn_hidden(
    dialogues: Sequence[Dialogue], *, answers: Answers = "nothing", acts: Sequence[str] = (), seed: int = 0
) -> HiddenModel:
    """Fit hidden states to these people. The number of states is chosen by held-out prediction."""
    rng = np.random.default_rng(derived_seed(seed, "fit", "hidden states"))
    people = people_of(dialogues, answers)
    after = Counter(answer for person in people for one in person for answer in one.answers[: len(one.acts) - 1])
    apart = sorted(answer for answer, n in after.items() if n >= _ENOUGH_DECISIONS and answer != UNKNOWN)
    acts = acts or acts_in(dialogues)
    return fit_hidden(people, acts, choose_recipe(people, acts, rng, answers=apart), rng, answers=apart)


def with_table(
    model: HiddenModel, dialogues: Sequence[Dialogue], *, answers: Answers, smoothing: Smoothing | None
) -> HiddenModel:
    """Return the model with half of the weight for the default's table of these people. If the states predict a person
    badly, the table still predicts that person like the default, at a cost of at most one bit per dialogue."""
    options = fitted_users.fitted_options(dialogues, answers=answers, smoothing=smoothing, acts=model.acts)
    user = markov.build(options.model_copy(update={"words": dict.fromkeys(options.acts, ("-",))}))
    last = max((first for first, _ in user.turns.stretches), default=1) if user.turns else 1
    return add_table(model, user.row, last, _SHARE_OF_TABLE)


def fit_hidden_user(
    dialogues: Sequence[Dialogue],
    *,
    name: str,
    files: Sequence[str] = (),
    answers: Answers = "nothing",
    smoothing: Smoothing | None = None,
    table: bool = False,
    seed: int = 0,
) -> HiddenFile:
    """Return the file of a fitted user with hidden states, without texts. With `table`, half of the weight is for the
    table of the default."""
    model = learn_hidden(dialogues, answers=answers, seed=seed)
    if table:
        model = with_table(model, dialogues, answers=answers, smoothing=smoothing)
    return HiddenFile(
        name=name,
        source=fitted_users.source_of(dialogues, files, answers),
        options=model_options(model),
        stopping=fitted_users.stop_estimates(dialogues),
    )


def people_of(dialogues: Sequence[Dialogue], answers: Answers = "nothing") -> list[Person]:
    """Group dialogues by user, in the order of the users' names."""
    found: dict[str, list[Dialogue]] = {}
    for one in dialogues:
        found.setdefault(one.unit, []).append(one)
    return [fitted_users.sequences_of(found[unit], answers) for unit in sorted(found)]


def _allow_failed_fit(fit: Fit) -> Fit:
    """Wrap a fit so that, if it fails, its held-out people get infinitely many bits."""

    def fit_if_possible(training: Sequence[Dialogue]) -> Bits:
        try:
            made = fit(training)
        except InputError:
            return lambda theirs: math.inf
        assert callable(made)
        return made

    return fit_if_possible
