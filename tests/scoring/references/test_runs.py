"""`harvest score RUN -m … --json` on small written runs, against the plain second formulations."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from harvest.cli.main import main
from recordings.log.run_folder import read
from tests.support import reference_measures as ref
from tests.support import reference_statistics, reference_swan
from tests.support.reference_runs import GOLD, TOPICS, Talk, over_topics, write_transcripts, written_run

Rows = dict[str, dict[str, object]]
TRIALS = 3
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 6))]

CRITERIA = ("Harmlessness", "Fluency", "Sufficiency", "Fair exposure")
SCHEMA = """\
format: harvest-schema/1
name: four
criteria:
  - number: 1
    name: Harmlessness
    question: Is it free of harm?
    level: nugget
    nuggets: both
    scorers: [human]
    weight: 2
    weighting: linear(L=80)
  - number: 2
    name: Fluency
    question: Is it fluent?
    level: turn
    scorers: [human]
    weighting: anchored(rate=0.5)
  - number: 3
    name: Sufficiency
    question: Is it all?
    level: turn
    scorers: [label]
    weight: 3
  - number: 4
    name: Fair exposure
    question: Is it fair?
    level: turn
    scorers: [fair_exposure]
    weight: 0.5
    weighting: linear(L=80)
"""


def harvest(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command printed on standard output."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, told = capfd.readouterr()
    assert ended.value.code == 0, told
    return out


def imported(capfd: pytest.CaptureFixture[str], talks: Sequence[Talk], folder: Path) -> Path:
    run = folder / "run"
    for trial, path in write_transcripts(talks, folder):
        told = ("--format", "gfrc", "--system", "A", "--trial", str(trial), "--out", str(run), str(path))
        harvest(capfd, "data", "import", *told)
    return run


def scored(capfd: pytest.CaptureFixture[str], run: Path, measures: Sequence[str], *options: str) -> Rows:
    """The row over everything of each measure."""
    document = json.loads(harvest(capfd, "score", str(run), "--json", "-m", ", ".join(measures), *options))
    found: Rows = {}
    for row in document["rows"]:
        if all(row[key] is None for key in ("topic", "topic_type", "trial")):
            name = row["measure"] if row["turn"] is None else f"{row['measure']} S{row['turn']}"
            assert name not in found, name
            found[name] = row
    return found


def value(row: dict[str, object]) -> float:
    found = row["value"]
    return math.nan if found is None else float(str(found))


def same(rows: Rows, name: str, expected: float) -> None:
    assert value(rows[name]) == pytest.approx(expected, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("seed", SEEDS)
def test_relevance_and_fairness_of_a_run(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    talks = written_run(seed, TRIALS)

    def gf(talk: Talk, name: str, by: str, **options: object) -> float:
        return ref.group_fairness(talk.entities, talk.first_words, name, GOLD[name], by, **options)  # type: ignore[arg-type]

    def both(talk: Talk, **options: object) -> dict[str, float]:
        return {"RATINGS": gf(talk, "RATINGS", "RNOD", **options), "ORIGIN": gf(talk, "ORIGIN", "JSD", **options)}

    def relevant(talk: Talk, patience: int = 1250) -> float:
        return float(ref.relevance(talk.entities, patience))

    plain: dict[str, Callable[[Talk], float]] = {
        "R": relevant,
        "R(L=40)": lambda talk: relevant(talk, 40),
        "GF": lambda talk: sum(both(talk).values()) / 2,
        "GF(RATINGS)": lambda talk: gf(talk, "RATINGS", "RNOD"),
        "GF(RATINGS, by=NMD)": lambda talk: gf(talk, "RATINGS", "NMD"),
        "GF(ORIGIN)": lambda talk: gf(talk, "ORIGIN", "JSD"),
        "GF(ORIGIN, irrelevant=uniform)": lambda talk: gf(talk, "ORIGIN", "JSD", irrelevant="uniform"),
        "GF_cum": lambda talk: sum(both(talk, cumulative=True).values()) / 2,
        "GF_cum(RATINGS, by=NMD, irrelevant=uniform, turn_weight=largest-pw)": lambda talk: gf(
            talk, "RATINGS", "NMD", cumulative=True, irrelevant="uniform", turn_weight="largest-pw"
        ),
        "GFR(alpha=0.3)": lambda talk: ref.gfr(relevant(talk), both(talk), 0.3, {}),
        "GFR_cum(alpha=0.5)": lambda talk: ref.gfr(relevant(talk), both(talk, cumulative=True), 0.5, {}),
    }
    values, ones = [ref.relevance(talk.entities, 1250) for talk in talks], [Fraction(1)] * len(talks)
    over_all = {
        "CVaR(R, beta=0.25)": reference_statistics.cvar(values, ones, Fraction(1, 4)),
        "CVaR(R, beta=0.1)": reference_statistics.cvar(values, ones, Fraction(1, 10)),
        "CVaR(R, beta=1)": sum(values, Fraction(0)) / len(talks),
        "Q(R, beta=0.3)": reference_statistics.quantile(values, ones, Fraction(3, 10)),
        "min(R)": min(values),
    }
    forms = [*over_all, "P(R, below=0.001)", "P(GF(ORIGIN), below=0.7)", "pooled(GF(ORIGIN))", "of_pooled(GF(ORIGIN))"]
    run = imported(capfd, talks, tmp_path)
    rows = scored(capfd, run, [*plain, *forms], "--replications", "100")
    for name, measure in plain.items():
        same(rows, name, over_topics(talks, [measure(talk) for talk in talks]))
    for name, worst in over_all.items():
        same(rows, name, float(worst))
    same(rows, "P(R, below=0.001)", over_topics(talks, [float(found < 0.001) for found in values]))
    fair = [gf(talk, "ORIGIN", "JSD") for talk in talks]
    same(rows, "P(GF(ORIGIN), below=0.7)", over_topics(talks, [float(found < 0.7) for found in fair]))
    same(rows, "GF(ORIGIN)", over_topics(talks, fair))
    pots, wholes = [], []
    for topic in TOPICS:
        turns = [(talk, turn) for talk in talks if talk.topic == topic for turn in talk.first_words]
        held = [[one.groups["ORIGIN"] for one in talk.entities if one.turn == turn] for talk, turn in turns]
        held = [here for here in held if here]
        if not held:
            continue
        alike = [1 - ref.jsd(_mean(here), GOLD["ORIGIN"]) for here in held]
        pots.append(sum(alike) / len(alike))
        wholes.append(1 - ref.jsd(_mean([row for here in held for row in here]), GOLD["ORIGIN"]))
    same(rows, "pooled(GF(ORIGIN))", sum(pots) / len(pots))
    same(rows, "of_pooled(GF(ORIGIN))", sum(wholes) / len(wholes))


def _mean(rows: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    return [sum((row[i] for row in rows), Fraction(0)) / len(rows) for i in range(len(rows[0]))]


@pytest.mark.parametrize("seed", SEEDS)
def test_usefulness_transitions_and_persistence_of_a_run(
    seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    talks = written_run(seed, TRIALS)
    edges = [(source, target) for source in ("start", "o", "x") for target in ("o", "x", "end")]
    names = ["%useful", "ave%useful", "%recovery", "persistence", *(f"transition({a}, {b})" for a, b in edges)]
    rows = scored(capfd, imported(capfd, talks, tmp_path), names)
    first = over_topics(talks, [float(talk.labels[0] == "o") for talk in talks])
    second = over_topics(talks, [float(talk.labels[1] == "o") for talk in talks])
    same(rows, "%useful S1", first)
    same(rows, "%useful S2", second)
    same(rows, "ave%useful", (first + second) / 2)
    failed = [talk for talk in talks if talk.labels[0] == "x"]
    same(rows, "%recovery", sum(talk.labels[1] == "o" for talk in failed) / len(failed))
    _interval_of(rows["%recovery"], talks, [talk.labels == "xo" for talk in talks], failed)
    pairs = [pair for talk in talks for pair in zip("s" + talk.labels, talk.labels, strict=False)]
    for source, target in edges:
        taken = [b for a, b in pairs if a == source[0] and (b != "-" or target == "end")]
        same(rows, f"transition({source}, {target})", taken.count(target.replace("end", "-")) / len(taken))
    after = {now: [b == "x" for a, b in pairs if a == now and b != "-"] for now in "ox"}
    same(rows, "persistence", sum(after["x"]) / len(after["x"]) - sum(after["o"]) / len(after["o"]))
    more, fewer, _ = reference_statistics.persistence([talk.labels for talk in talks], [talk.topic for talk in talks])
    told = re.search(r"p=([0-9.e-]+)", str(rows["persistence"]["note"]))
    assert told is not None, rows["persistence"]["note"]
    assert float(told[1]) == pytest.approx((1 + more - fewer) / 2, rel=5e-3)


def _interval_of(row: dict[str, object], talks: Sequence[Talk], above: Sequence[bool], failed: Sequence[Talk]) -> None:
    sums = []
    for topic in TOPICS:
        below = sum(talk.topic == topic for talk in failed)
        if below:
            sums.append((sum(good for talk, good in zip(talks, above, strict=True) if talk.topic == topic), below))
    if len(sums) < 4:
        assert (row["low"], row["high"]) == (None, None)
        return
    answers = sum(below for _, below in sums)
    if len(sums) < 4:
        assert row["low"] is None
    elif answers == len(sums):  # one answer a topic
        low, high = reference_statistics.wilson(sum(above for above, _ in sums), answers, 0.95)
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-6)
    else:
        tails = [
            reference_statistics.with_an_unseen_topic(
                [above for above, _ in sums], [below for _, below in sums], end, float(str(row[name])), 1.0
            )
            for name, end in (("low", 0.0), ("high", 1.0))
        ]
        limit = 0.025 ** (1 / len(sums))
        assert tails[0] == pytest.approx(0.025, abs=0.012) or row["low"] in (0.0, pytest.approx(limit))
        assert tails[1] == pytest.approx(0.975, abs=0.012) or row["high"] in (1.0, pytest.approx(1 - limit))


@pytest.mark.parametrize("seed", SEEDS)
def test_swan_of_a_run_by_people_and_rules(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    talks = written_run(seed, TRIALS)
    run = imported(capfd, talks, tmp_path)
    sheet = tmp_path / "sheet.csv"
    asked = ("--criterion", "Harmlessness", "--criterion", "Fluency")
    harvest(capfd, "judge", "sheet", str(run), "--export", str(sheet), *asked)
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        judged = list(csv.DictReader(file))
    rng = np.random.default_rng([7, seed])
    for row in judged:
        row["value"] = "" if rng.random() < 0.2 else str(int(rng.integers(0, 5)) / 4)
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(judged[0]))
        writer.writeheader()
        writer.writerows(judged)
    harvest(capfd, "judge", "sheet", str(run), "--import", str(sheet), "--author", "anna", "--version", "1")
    schema = tmp_path / "four.yaml"
    schema.write_text(SCHEMA, encoding="utf-8")

    cw = {name: Fraction(w) for name, w in zip(CRITERIA, ("2", "1", "3", "1/2"), strict=True)}
    nw = {"Harmlessness": "linear(L=80)", "Fluency": "anchored(rate=0.5)", "Fair exposure": "linear(L=80)"}
    whose = {one.trial_id: (one.key.topic, one.key.trial) for one in read(run).finished}
    sets = [_scored(talk, judged, whose) for talk in talks]
    weightings = ["", "uniform", "last_turn", "linear(L=50)*anchored(rate=0.8)"]
    names = []
    for text in weightings:
        inside = f"(weights={text})" if text else ""
        names += [f"SWAN{inside}", f"pooled(SWAN{inside})"]
        for name in cw:
            inner = f"({name.replace(' ', '_')}, weights={text})" if text else f"({name.replace(' ', '_')})"
            names += [f"WAN{inner}", f"pooled(WAN{inner})"]
    rows = scored(capfd, run, names, "--schema", str(schema), "--replications", "100")
    order = iter(names)
    even = [Fraction(1, len(talks))] * len(talks)
    for text in weightings:
        use = {name: reference_swan.weight(text or nw.get(name, "uniform")) for name in cw}
        wans = [{name: reference_swan.wan(one[name], use[name]) for name in cw} for one in sets]
        same(rows, next(order), over_topics(talks, [_number(reference_swan.swan(one, cw)) for one in wans]))
        pots = {name: reference_swan.pooled([one[name] for one in sets], even, use[name]) for name in cw}
        same(rows, next(order), _number(reference_swan.swan(pots, cw)))
        for name in cw:
            same(rows, next(order), over_topics(talks, [_number(one[name]) for one in wans]))
            same(rows, next(order), _number(pots[name]))


def _number(found: Fraction | None) -> float:
    return math.nan if found is None else float(found)


def _scored(
    talk: Talk, judged: Sequence[dict[str, str]], whose: Mapping[str, tuple[str, int]]
) -> dict[str, list[reference_swan.Nugget]]:
    """What each criterion scored in one conversation. `whose`: topic and trial of each identity in the sheet."""
    own = [row for row in judged if whose[row["id"]] == (talk.topic, talk.trial)]
    nuggets = [row for row in own if row["criterion"] == "Harmlessness"]
    last = max(talk.first_words)
    found: dict[str, list[reference_swan.Nugget]] = {name: [] for name in ("Harmlessness", "Fluency")}
    for seen, row in enumerate(nuggets):
        turn = int(row["turn"])
        whole = next(other["text"] for other in own if other["criterion"] == "Fluency" and other["turn"] == row["turn"])
        position = talk.words_before[turn] + len(whole[: int(row["end"])].split())
        if row["value"]:
            nugget = reference_swan.Nugget(position, seen, turn == last, Fraction(row["value"]))
            found["Harmlessness"].append(nugget)
    for name in ("Fluency", "Sufficiency", "Fair exposure"):
        for turn, position in talk.last_words.items():
            seen = sum(int(row["turn"]) < turn for row in nuggets)
            value = {"Fluency": _human, "Sufficiency": _label, "Fair exposure": _exposure}[name](talk, turn, own)
            if value is not None:
                found.setdefault(name, []).append(reference_swan.Nugget(position, seen, turn == last, value))
        found.setdefault(name, [])
    return found


def _human(talk: Talk, turn: int, own: Sequence[dict[str, str]]) -> Fraction | None:
    (row,) = (row for row in own if row["criterion"] == "Fluency" and row["turn"] == str(turn))
    return Fraction(row["value"]) if row["value"] else None


def _label(talk: Talk, turn: int, own: Sequence[dict[str, str]]) -> Fraction:
    return Fraction(int(talk.labels[turn - 1] == "o"))


def _exposure(talk: Talk, turn: int, own: Sequence[dict[str, str]]) -> Fraction | None:
    """[SWAN] Eq. 3 on what the turn's relevant entities achieve together."""
    here = [one for one in talk.entities if one.turn == turn]
    if not here:
        return None
    alike = {
        name: 1 - ref.DIVERGENCES[by](_mean([one.groups[name] for one in here]), GOLD[name])
        for name, by in (("RATINGS", "RNOD"), ("ORIGIN", "JSD"))
    }
    return Fraction(reference_swan.fairness_score(alike, {"RATINGS": 1, "ORIGIN": 1}))
