"""Fit a user to dialogues: act counts with intervals, stop models, and held-out likelihood."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from protocols.labels import USEFUL, usefulness
from recordings.acts.dialogue import Dialogue
from scoring.inference.proportions import jeffreys_ends
from scoring.simulation import act_model
from simulators import markov
from simulators.act_table import ANY, UNKNOWN, ActSequence, ActTable, fit
from simulators.fitted import Parameter, RowEstimate, Share, Source, StopEstimate, UserFile
from simulators.stopping.fitting import Fit as StopFit
from simulators.stopping.fitting import StayLength, fit_geometric, fit_hazard, fit_two_alpha, fitted_model
from simulators.turn_table import count_by_turn
from topics.errors import InputError
from topics.identity import derived_seed

Answers = Literal["nothing", "labels"]
_DIGITS = 6  # the precision of a simulation
_MANY, _SELDOM = 12, 5  # number of acts; occurrences of an act

# The fitted stop models, in order; two-alpha only if answers are labelled.
STOP_MODELS = ("geometric", "two-alpha", "hazard")

# What decides when a fitted user leaves: the table of acts by turn and last act, the table over all turns, or a model.
LEAVING = ("turn-and-act", "table", *STOP_MODELS)

_ENOUGH = markov.Options.model_validate({}).enough


def sequences_of(dialogues: Sequence[Dialogue], answers: Answers = "nothing") -> tuple[ActSequence, ...]:
    """Convert dialogues for `simulators.act_table`. With answers "nothing", every answer is unknown."""
    return tuple(
        ActSequence(
            tuple(turn.act for turn in one.turns),
            tuple((turn.answer or UNKNOWN) if answers == "labels" else UNKNOWN for turn in one.turns),
            one.ended,
        )
        for one in dialogues
    )


def stays_of(dialogues: Sequence[Dialogue]) -> tuple[StayLength, ...]:
    """Return how long each user stayed, and the labels of the answers that the user got.

    If every answer has a label, a stay also has the user's coverage after each answer: the number of useful answers
    out of the three that the user needs (`enough` of the Markov user). The last answer of a dialogue that was cut
    off is not an opportunity to leave, because what the user would have done is unknown. A dialogue that was cut
    off after its first turn is left out.
    """
    stays = []
    for one in dialogues:
        turns = one.turns if one.ended else one.turns[:-1]
        labels = tuple(usefulness(turn.answer) for turn in turns)
        if labels:
            useful = np.cumsum([label == USEFUL for label in labels])
            coverage = () if "-" in labels else tuple(min(1.0, float(count) / _ENOUGH) for count in useful)
            stays.append(StayLength(tuple(str(label) for label in labels), coverage, one.ended, one.unit))
    return tuple(stays)


def fit_user(
    dialogues: Sequence[Dialogue],
    *,
    name: str,
    files: Sequence[str] = (),
    order: Literal[1, 2] = 1,
    answers: Answers = "nothing",
    smoothing: act_model.Smoothing | None = None,
    stop: str = "turn-and-act",
    level: float = 0.95,
) -> UserFile:
    """Fit a Markov user to these dialogues. `stop` is one of `LEAVING`. Raises InputError for an act with a
    reserved name, and if the requested stop model cannot be fitted."""
    smoothing = smoothing or act_model.Smoothing()
    options = fitted_options(dialogues, order=order, answers=answers, smoothing=smoothing, stop=stop)
    table = options.table()
    assert isinstance(table, ActTable)  # made of counts
    return UserFile(
        name=name,
        source=source_of(dialogues, files, answers),
        options=options,
        level=level,
        rows=_rows(table, level, dialogues, answers),
        stopping=stop_estimates(dialogues),
    )


def source_of(dialogues: Sequence[Dialogue], files: Sequence[str], answers: Answers) -> Source:
    """Describe the fitted dialogues for the user's file."""
    return Source(
        files=tuple(files),
        dialogues=len(dialogues),
        users=len({one.unit for one in dialogues}),
        decisions=sum(1 for one in dialogues for _ in act_model.decisions_of(one)),
        censored=sum(not one.ended for one in dialogues),
        answers=answers,
    )


def stop_estimates(dialogues: Sequence[Dialogue]) -> tuple[StopEstimate, ...]:
    """Return the estimates of every stop model, and of leaving by turn and last act, for the user's file."""
    errors = not is_one_person(dialogues)
    estimates = []
    for model, found in stop_fits(dialogues).items():
        parameters = {
            name: Parameter(value=_rounded_or_none(one.value), error=_rounded_or_none(one.error) if errors else None)
            for name, one in found.parameters.items()
        }
        aic = _rounded_or_none(found.aic)
        estimates.append(StopEstimate(model=model, parameters=parameters, aic=aic, chances=found.chances))
    turns = count_by_turn(sequences_of(dialogues))
    if turns is not None:
        chances, aic = sum(n for _, n in turns.departures), _rounded_or_none(turns.aic)
        estimates.append(StopEstimate(model="turn-and-act", parameters={}, aic=aic, chances=chances))
    return tuple(estimates)


def fit_notes(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    """Explain why a fit is weak: all dialogues are of one person, what users said was never a choice, or there are too
    many acts for any act to recur."""
    notes = []
    if is_one_person(dialogues):
        whose = "all dialogues are" if len(dialogues) > 1 else "the one dialogue is"
        notes.append(
            f"{whose} of one person: how alike decisions of one person are cannot be known, so no share has an "
            "interval and no parameter an error; add dialogues of other people, or, if these are several people, tell "
            "them apart"
        )
    if _never_chose(dialogues):
        notes.append(
            "what users said next always followed from the turns before, as by a protocol: this fit returns that "
            "protocol, not how people choose; fit recordings of people, or of users with several ways to go on"
        )
    seen = Counter(turn.act for one in dialogues for turn in one.turns)
    rare = sum(count < _SELDOM for count in seen.values())
    if len(seen) > _MANY and 2 * rare > len(seen):
        numbers = all(not any(letter.isalpha() for letter in act) for act in seen)
        what = "their names are numbers of nodes or turns, not what users did; " if numbers else ""
        notes.append(
            f"{len(seen)} acts, {rare} of them seen fewer than {_SELDOM} times: what follows them is mostly chance, "
            f"and no words can be given to them for other topics; {what}name what users did, a few kinds of turn, in a "
            "harvest-acts/1 file, and fit that (docs/simulators/validation.md)"
        )
    return tuple(notes)


def _never_chose(dialogues: Sequence[Dialogue]) -> bool:
    """Return true if users who had been through the same acts and answers always went on with the same act. At least
    `_SELDOM` of these situations must have occurred more than once."""
    went_on: dict[tuple[tuple[str, str | None], ...], Counter[str]] = defaultdict(Counter)
    for one in dialogues:
        for number in range(1, len(one.turns)):
            before = tuple((turn.act, turn.answer) for turn in one.turns[:number])
            went_on[before][one.turns[number].act] += 1
    repeated = [acts for acts in went_on.values() if acts.total() > 1]
    return sum(acts.total() for acts in repeated) >= _SELDOM and all(len(acts) == 1 for acts in repeated)


def is_one_person(dialogues: Sequence[Dialogue]) -> bool:
    """Return true if all dialogues are of one user, so that the variation between users is unknown."""
    return len({one.unit for one in dialogues}) == 1


def fitted_options(
    dialogues: Sequence[Dialogue],
    *,
    order: Literal[1, 2] = 1,
    answers: Answers = "nothing",
    smoothing: act_model.Smoothing | None = None,
    stop: str = "turn-and-act",
    acts: tuple[str, ...] = (),
) -> markov.Options:
    """Return the options of the fitted user, without texts: its counts and the requested stop model. `acts` are the
    possible acts; () means all acts that occur. Raises InputError as `fit_user` does."""
    smoothing = smoothing or act_model.Smoothing()
    acts = acts or act_model.acts_in(dialogues)
    table = _table(dialogues, acts, order, answers, smoothing)
    options = markov.Options.model_validate(
        {
            "acts": acts,
            "order": order,
            "smoothing": smoothing.method,
            "weight": smoothing.weight,
            "counts": tuple(
                {"after": after, "answer": answer, "next": dict(row)} for (after, answer), row in table.counts.items()
            ),
        }
    )
    if stop == "table":
        return options
    if stop == "turn-and-act":
        turns = count_by_turn(sequences_of(dialogues, answers), order=order)
        stretches = tuple(
            markov.Stretch(
                turn=turn,
                counts=tuple(
                    markov.Count(after=after, answer=answer, next=dict(row)) for (after, answer), row in rows.items()
                ),
            )
            for turn, rows in (turns.stretches if turns else ())
        )
        return options.model_copy(update={"stretches": stretches})
    fits = stop_fits(dialogues)
    if stop not in fits or not fits[stop].has_estimate:
        raise InputError(
            f"the stop model {stop!r} cannot be fitted to these dialogues",
            allowed=", ".join(["turn-and-act", "table", *(one for one, found in fits.items() if found.has_estimate)]),
            advice="add dialogues of users who left and of users who stayed; for two-alpha, both after useful and "
            "after useless answers",
        )
    return options.model_copy(update={"stop": fitted_model(fits[stop])})


def foresight(
    dialogues: Sequence[Dialogue],
    *,
    order: int = 1,
    answers: Answers = "nothing",
    smoothing: act_model.Smoothing | None = None,
    folds: int = 10,
    level: float = 0.95,
    seed: int = 0,
) -> Mapping[str, act_model.HeldOutBits]:
    """Return the held-out likelihood of act tables, by model, on users to whom the tables were not fitted. The
    uniform model comes first. Leaving is predicted by the table and not by a stop model. Returns {} if there is
    only one user."""
    if len({one.unit for one in dialogues}) < 2:
        return {}
    fitting = partial(
        act_model.fit_acts, acts=act_model.acts_in(dialogues), smoothing=smoothing or act_model.Smoothing()
    )
    uniform = act_model.UniformModel(act_model.acts_in(dialogues))
    models: dict[str, act_model.Fit] = {"uniform": lambda _: uniform, "acts alone": partial(fitting, order=0)}
    models |= {f"order {each}": partial(fitting, order=each) for each in (1, 2)}
    if answers == "labels":
        models[f"order {order}, last answer"] = partial(fitting, order=order, given=True)
    rng = np.random.default_rng(derived_seed(seed, "fit", "folds"))
    return act_model.held_out_bits(dialogues, models, rng, folds=folds, level=level)


def _table(
    dialogues: Sequence[Dialogue], acts: tuple[str, ...], order: int, answers: Answers, smoothing: act_model.Smoothing
) -> ActTable:
    """Count acts. A decision after an unknown answer counts for every answer. A separate row for unknown answers
    could predict the end of a dialogue, because often only the last turn of a recording has no answer."""
    counted = fit(
        sequences_of(dialogues, answers), order=order, smoothing=smoothing.method, weight=smoothing.weight, acts=acts
    )
    counts = {(after, ANY if answer == UNKNOWN else answer): row for (after, answer), row in counted.counts.items()}
    return replace(counted, counts=counts)


def _rows(table: ActTable, level: float, dialogues: Sequence[Dialogue], answers: Answers) -> tuple[RowEstimate, ...]:
    """Return rows with Jeffreys intervals. Since the decisions of one user correlate, the effective number of
    decisions is used."""
    each = [_table([one], table.acts, table.order, answers, act_model.Smoothing()).counts for one in dialogues]
    users = [one.unit for one in dialogues]
    alone = is_one_person(dialogues)
    rows = []
    for (after, answer), counted in table.counts.items():
        n = sum(counted.values())
        played = table.row([act for act in after if act != "start"], answer)
        next_acts = {}
        own = [one.get((after, answer), {}) for one in each]
        worth = np.array([n / _design_effect(own, users, act, counted.get(act, 0) / n) for act in played])
        lows, highs = jeffreys_ends([counted.get(act, 0) / n * size for act, size in zip(played, worth)], worth, level)
        for act, low, high in zip(played, lows, highs):
            k = counted.get(act, 0)
            ends = {} if alone else {"low": _round(low), "high": _round(high)}
            next_acts[act] = Share(k=k, p=round(played[act], _DIGITS), **ends)
        rows.append(RowEstimate(after=after, answer=answer, n=n, next=next_acts))
    return tuple(rows)


def _design_effect(counts: Sequence[Mapping[str, int]], users: Sequence[str], act: str, share: float) -> float:
    """Return the design effect of the share of `act` in a row with these counts (see `simulators.stopping.fitting`)."""
    by_user: dict[str, float] = {}
    alone = 0.0
    one_user = len({user for row, user in zip(counts, users, strict=True) if row}) == 1
    for row, user in zip(counts, users, strict=True):
        n = sum(row.values())
        # A share of 0 or 1, or of one user, has no spread: there the number of a user's decisions is used instead.
        influence = row.get(act, 0) - n * share if 0 < share < 1 and not one_user else float(n)
        by_user[user] = by_user.get(user, 0.0) + influence
        alone += influence**2
    return max(1.0, sum(one**2 for one in by_user.values()) / alone) if alone else 1.0


def stop_fits(dialogues: Sequence[Dialogue]) -> dict[str, StopFit]:
    """Return fitted stop models by name, or {} if no decision was observed. Without labels, two-alpha is omitted."""
    stays = stays_of(dialogues)
    if not stays:
        return {}
    found = {"geometric": fit_geometric(stays)}
    if any(label != UNKNOWN for stay in stays for label in stay.labels):
        found["two-alpha"] = fit_two_alpha(stays)
    found["hazard"] = fit_hazard(stays, coverage=all(stay.coverage for stay in stays))
    return found


def _rounded_or_none(value: float) -> float | None:
    return round(float(value), _DIGITS) if math.isfinite(value) else None


def _round(value: float) -> float:
    return round(float(value), _DIGITS)
