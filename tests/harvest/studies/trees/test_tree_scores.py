"""`harvest tree --score`: what each branch is worth, and which turn settles the spread."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material
from harvest.studies.trees.figures import tree_figures
from harvest.studies.trees.folded_trees import fold_trees, folds_spoken, merging_named
from harvest.studies.trees.tree_scores import tree_scores, trial_scores, trial_values
from harvest.studies.trees.words import legend
from recordings.conversations.conversation import TrialKey
from recordings.judged.judgments import Target
from recordings.log.run_folder import Run, read
from recordings.trees.builder import TreeBuilder
from scoring.notation import parse
from tests.scoring.swan.test_judged import layer
from tests.support.checkout import DATA
from tests.support.command_line import harvest
from topics.errors import InputError
from topics.library import load_gold

TOPICS = ",".join(f"{kind}{number:03d}" for kind in "MRY" for number in range(1, 5))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("scores") / "run"
    done = harvest("run", "demo", "--trials", "3", "--topics", TOPICS, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return read(folder)


@pytest.fixture(scope="module")
def material(run: Run) -> Material:
    return gather_runs(run).material


@pytest.fixture(scope="module")
def values(material: Material) -> Mapping[TrialKey, float]:
    """Of R."""
    return trial_values(material, parse("R"))


@pytest.mark.parametrize(("merge", "topic"), [("label", None), (None, None), (" exact", "M001"), (None, "M001")])
def test_text_alone_is_enough_for_trees_by_label_and_by_words(run: Run, merge: str | None, topic: str | None) -> None:
    assert folds_spoken(merge)
    trees, left = fold_trees(run, topic=topic, merge=merge)
    spoken = read(run.path, spoken=True)
    assert fold_trees(spoken, topic=topic, merge=merge) == (trees, left)
    assert len(trees) == 2
    assert sum(tree.n for tree in trees) == sum(one.key.topic == (topic or one.key.topic) for one in run.finished)
    by_values = [TreeBuilder(merging_named(tree.merge), protocol=tree.scope.protocols[0]) for tree in trees]
    for tree, builder in zip(trees, by_values, strict=True):
        for one in run.finished:
            if (one.key.system, one.key.topic) == (tree.scope.systems[0], topic or one.key.topic):
                builder.add(one)
    assert [builder.tree() for builder in by_values] == trees


@pytest.mark.parametrize("merge", ["act", "entities", "user=state,system=exact"])
def test_other_keys_use_whole_turns(run: Run, merge: str) -> None:
    assert not folds_spoken(merge)
    with pytest.raises(ValueError, match="only the text of this attempt's turns was kept"):
        fold_trees(read(run.path, spoken=True), merge=merge)


def test_the_score_of_a_branch_is_the_mean_of_its_trials(run: Run, values: Mapping[TrialKey, float]) -> None:
    assert len(values) == len(run.finished)
    (tree,), _ = fold_trees(run, system="B", merge="label")
    scores = tree_scores(tree, parse("R"), values)
    first = {one.key: one.label(1) for one in run.finished if one.key.system == "B"}
    for node in range(1, len(tree)):
        if tree.speaker(node) == "system" and tree.parent[tree.parent[node]] == 0:
            mine = [values[key] for key, label in first.items() if label == tree.symbol_at(node).key]
            assert scores.parts.mean[node] == pytest.approx(np.mean(mine))
    own = [values[key] for key in first]
    assert scores.parts.mean[0] == pytest.approx(np.mean(own))
    assert scores.over.total == pytest.approx(np.var(own, ddof=1))
    assert scores.over.settled.sum() + scores.over.rest + scores.over.undecided == pytest.approx(scores.over.total)


def test_the_mean_over_a_tree_has_an_interval_over_topics(run: Run, values: Mapping[TrialKey, float]) -> None:
    (tree,), _ = fold_trees(run, system="B", merge="label")
    scores = tree_scores(tree, parse("R"), values)
    assert scores.interval.low < scores.parts.mean[0] < scores.interval.high
    assert "unseen topic" in scores.interval.method
    shown = f"[{scores.interval.low:.4f}, {scores.interval.high:.4f}]".replace("0.", ".")
    assert f"{shown} over {scores.n} trials" in scores.sentences()[0]


def test_the_scorers_of_a_wan_are_named_and_a_mixture_is_called_a_mixture(material: Material) -> None:
    measure = parse("WAN(Conciseness)")
    first = next(one for one in material.finished if one.key.system == "B")
    people = layer(0.0, target=Target(first.trial_id, first.attempt, 1), criterion="Conciseness")
    notes = trial_scores(replace(material, layers=(*material.layers, people)), measure).notes
    assert any(note.startswith("B: WAN(Conciseness, people, rules)") for note in notes)
    assert any("Conciseness of B was scored by people (1 item) and rules" in note for note in notes)
    assert any("its value is a mixture of judges" in note for note in notes)
    alone = trial_scores(material, measure).notes
    assert any(note.startswith("B: WAN(Conciseness, rules)") for note in alone)
    assert not any("mixture" in note for note in alone)


def test_a_tree_says_on_standard_error_who_scored_it(run: Run) -> None:
    told = harvest("tree", str(run.path), "--system", "B", "--merge", "label", "--score", "WAN(Conciseness)").stderr
    assert "note: B: WAN(Conciseness, rules)" in told


def test_trials_without_a_value_are_left_out_and_counted(run: Run, material: Material) -> None:
    (tree,), _ = fold_trees(run, system="B", merge="label")
    values = trial_values(material, parse("WAN(Recoverability)"))
    scores = tree_scores(tree, parse("WAN(Recoverability)"), values)
    undefined = sum(math.isnan(value) for key, value in values.items() if key.system == "B")
    assert 0 < undefined == scores.trials - scores.n
    assert f"{undefined} have none" in scores.sentences()[0]
    assert any(math.isnan(mean) for mean in scores.parts.mean)


def test_the_n_of_a_mean_is_shown_if_some_trials_of_a_branch_have_no_value(run: Run, material: Material) -> None:
    (tree,), _ = fold_trees(run, system="B", merge="label")
    values = trial_values(material, parse("GF(RATINGS)"))
    figures = tree_figures(tree, scores=tree_scores(tree, parse("GF(RATINGS)"), values))
    assert figures.scores is not None
    known = {key for key, value in values.items() if key.system == "B" and not math.isnan(value)}
    for node in range(len(tree)):
        mine = sum(tree.trials[i].key in known for i in tree.through(node))
        assert figures.scores.counts[node] == mine
        assert (f"n={mine}" in figures.branches()[node]) == (mine != tree.visits[node])
    assert 0 < len(known) < tree.n
    assert len({len(shown) for shown in (*figures.branches()[1:], *figures.stops()[1:])}) == 1
    assert "GF(RATINGS) of the trials that have one, and n, if not all of them have one" in legend([figures])[0]
    assert f"n={len(known)}" in figures.captions()[0]
    whole = tree_figures(tree, scores=tree_scores(tree, parse("R"), trial_values(material, parse("R"))))
    assert not any("n=" in shown for shown in whole.branches())
    assert "and n" not in legend([whole])[0]


def test_a_score_that_no_trial_has_is_reported_as_having_no_value(run: Run) -> None:
    (tree,), _ = fold_trees(run, system="B", merge="label")
    (said,) = tree_scores(tree, parse("R"), {}).sentences()
    assert said == f"R: none of {tree.n} trials has a value"
    one = tree_scores(tree, parse("R"), {tree.trials[0].key: 0.5}).sentences()
    assert one[0].endswith("have none; its spread cannot be estimated from one value")


@pytest.mark.parametrize("measure", ["R", "GF(RATINGS)", "GF", "GFR"])
def test_without_a_gold_table_a_score_that_needs_one_is_refused(material: Material, measure: str) -> None:
    goldless = replace(material, gold=None)
    with pytest.raises(InputError, match="has no value here: the run has no gold table") as caught:
        trial_values(goldless, parse(measure))
    assert "--gold" in (caught.value.advice or "")


def test_a_gold_table_can_be_given_and_other_measures_have_values_without_one(material: Material) -> None:
    goldless = replace(material, gold=None)
    assert trial_values(goldless, parse("breakdown"))
    judged = trial_values(goldless, parse("R"), gold=load_gold("parrot", material.topics))
    assert any(not math.isnan(value) for value in judged.values())


def test_a_score_without_any_value_is_refused(material: Material) -> None:
    with pytest.raises(InputError, match=r"WAN\(Fair_exposure\) has no value in any conversation"):
        trial_values(replace(material, gold=None), parse("WAN(Fair_exposure)"))


def test_the_nuggets_to_score_can_be_chosen(run: Run) -> None:
    rules = harvest("tree", str(run.path), "--system", "B", "--score", "SWAN", "--nuggets", "rules", "--format", "json")
    assert rules.returncode == 0, rules.stderr
    whole = [row for row in json.loads(rules.stdout)["long"] if row["figure"] == "mean score of all trials"]
    assert whole[0]["trials"] > 0
    nobody = harvest("tree", str(run.path), "--score", "SWAN", "--nuggets", "nobody")
    assert nobody.returncode == 2
    assert "there is no layer with nuggets of 'nobody'" in nobody.stderr
    for words in (["--nuggets", "rules"], ["--nuggets", "rules", "--score", "R"]):
        assert "--nuggets only affects SWAN" in harvest("tree", str(run.path), *words).stderr
    assert "--schema only affects SWAN" in harvest("tree", str(run.path), "--schema", "sakai-2023-rules").stderr
    assert "--gold only affects scores" in harvest("tree", str(run.path), "--gold", "parrot").stderr


def test_criteria_are_those_of_the_named_schema(tmp_path: Path) -> None:
    pages, tree = str(tmp_path / "pages"), ("tree", str(tmp_path / "pages"), "--format", "text", "--score")
    dialogue = str(DATA / "swan_section_4_6.jsonl")
    assert harvest("data", "import", "--format", "messages", dialogue, "--out", pages).returncode == 0
    # (0 + 0 + 1 + 1 + .3 + 0) / 6: Groundedness, Sincerity, Conciseness, Recoverability, Originality, Consistency
    assert "SWAN: mean 0.3833 over 1 trial" in harvest(*tree, "SWAN", "--schema", "sakai-2023-rules").stdout
    own = tmp_path / "own.yaml"
    own.write_text(
        "format: harvest-schema/1\nname: own\ncriteria:\n"
        "  - {number: 1, name: Constancy, question: Constant?, level: nugget, nuggets: F, scorers: [contradiction]}\n"
    )
    assert "WAN(Constancy): mean 0.0000 over 1 trial" in harvest(*tree, "WAN(Constancy)", "--schema", str(own)).stdout
    assert "Constancy" in harvest(*tree, "WAN(Constancy)").stderr


def test_a_score_that_is_the_label_is_settled_by_the_turns_that_have_it(run: Run) -> None:
    (tree,), _ = fold_trees(run, system="B", merge="label")
    values = {one.key: float(one.label(1) == "o") for one in run.finished}
    scores = tree_scores(tree, parse("R"), values)
    assert scores.over.rest == pytest.approx(0, abs=1e-12)
    assert "100% by S1" in scores.sentences()[1]


def test_if_no_two_trials_took_the_same_path_nothing_is_claimed(run: Run, values: Mapping[TrialKey, float]) -> None:
    (tree,), _ = fold_trees(run, system="B", topic="M001", merge="exact")
    scores = tree_scores(tree, parse("R"), values)
    assert "is undecided: no two trials took the same path" in scores.sentences()[1]


def test_the_command_prints_it_in_80_columns_and_in_json(run: Run) -> None:
    shown = harvest("tree", str(run.path), "--system", "B", "--score", "R", "--format", "text")
    assert shown.returncode == 0, shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "of its variance:" in shown.stdout
    told = harvest("tree", str(run.path), "--system", "B", "--score", "R", "--format", "json")
    document = json.loads(told.stdout)
    (tree,) = document["trees"]
    assert tree["scores"]["measure"] == "R"
    means = [row for row in document["long"] if row["figure"] == "mean score"]
    assert [row["node"] or "" for row in means] == [node["way"] for node in tree["nodes"]]
    drawn = harvest("tree", str(run.path), "--system", "B", "--score", "R", "--format", "graphml")
    assert "score_mean" in drawn.stdout
    mass = next(row for row in document["long"] if row["figure"] == "scored trials")
    (whole,) = [row for row in document["long"] if row["figure"] == "mean score of all trials"]
    assert (mass["estimate"], mass["trials"]) == (1, whole["trials"])
    assert means[0]["estimate"] == whole["estimate"] == round(whole["estimate"], 12)


@pytest.mark.parametrize(
    "measure", ["CVaR(R)", "%recovery", "persistence", "pooled(GF(RATINGS))", "of_pooled(GF(RATINGS))", "pooled(SWAN)"]
)
def test_a_measure_of_many_conversations_has_no_value_on_a_branch(material: Material, measure: str) -> None:
    with pytest.raises(InputError, match="a single one has no value of it") as caught:
        trial_values(material, parse(measure))
    assert caught.value.advice is not None
    assert f"harvest score RUN -m {shlex.quote(str(parse(measure)))}" in caught.value.advice


def test_for_a_measure_of_the_worst_conversations_its_inner_measure_is_proposed(
    material: Material,
) -> None:
    with pytest.raises(InputError, match="a single one has no value of it") as caught:
        trial_values(material, parse("CVaR(GF(RATINGS), beta=0.2, within=topics)"))
    assert (caught.value.advice or "").startswith("write GF(RATINGS), or see ")
