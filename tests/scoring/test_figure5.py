"""Figure 5 of the GFRC paper through the command line: from annotated text to Tables 1 and 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvest.report.document import make_report
from recordings.log.run_folder import read
from tests.support.checkout import DATA, DOCS
from tests.support.command_line import harvest


def printed(*words: str | Path, cwd: Path) -> str:
    done = harvest(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figure5")
    for system in ("B1", "G1"):
        names = ("--system", system, "--out", system)
        printed("data", "import", "--format", "gfrc", DATA / f"gfrc_m002_{system}.txt", *names, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def rows(runs: Path) -> list[dict[str, Any]]:
    document = json.loads(printed("score", "B1", "G1", "--json", cwd=runs))
    assert document["format"] == "harvest-scores/1"
    return list(document["rows"])


def value(rows: list[dict[str, Any]], system: str, measure: str, turn: int | None = None) -> float:
    found = [
        row["value"]
        for row in rows
        if (row["system"], row["measure"], row["topic"], row["trial"], row["turn"])
        == (system, measure, "M002", 1, turn)
    ]
    assert len(found) == 1, (system, measure, turn, found)
    return float(found[0])


TABLE_1 = {
    "B1": [0.9728, 0.9696, 0.9664, 0.9640, 0.9600, 0.9280, 0.9240, 0.9216, 0.9176, 0.9152],
    "G1": [0.5960, 0.5528],
}
POSITIONS = {"B1": [35, 39, 43, 46, 51, 91, 96, 99, 104, 107], "G1": [506, 560]}


@pytest.mark.parametrize("system", ["B1", "G1"])
def test_every_pw_is_that_of_table_1_at_the_word_counts_of_figure_5(rows: list[dict[str, Any]], system: str) -> None:
    nuggets = [row for row in rows if row["measure"] == "pw" and row["system"] == system and row["gain"]]
    nuggets.sort(key=lambda row: row["position"])
    assert [row["position"] for row in nuggets] == POSITIONS[system]
    assert [row["value"] for row in nuggets] == pytest.approx(TABLE_1[system], abs=1e-4)


def test_R_is_that_of_table_1(rows: list[dict[str, Any]]) -> None:
    assert value(rows, "B1", "R") == pytest.approx(0.0143, abs=1e-4)
    assert value(rows, "G1", "R") == pytest.approx(0.0014, abs=1e-4)


@pytest.mark.parametrize(("system", "turn", "expected"), [("B1", 1, 0.6773), ("B1", 2, 0.4796), ("G1", 2, 0.4049)])
def test_RATINGS_similarities_of_turns_are_those_of_table_2(
    rows: list[dict[str, Any]], system: str, turn: int, expected: float
) -> None:
    assert value(rows, system, "DistrSim(RATINGS)", turn) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("system", "turn", "expected"), [("B1", 1, 0.4303), ("B1", 2, 0.4682), ("G1", 2, 0.4303)])
def test_ORIGIN_similarities_of_turns_are_those_of_table_2(
    rows: list[dict[str, Any]], system: str, turn: int, expected: float
) -> None:
    assert value(rows, system, "DistrSim(ORIGIN)", turn) == pytest.approx(expected, abs=1e-4)


def test_GF_values_are_those_of_table_2(rows: list[dict[str, Any]]) -> None:
    # The paper prints .5785 for B1's RATINGS: the mean of two rounded values; exactly it is .5784.
    assert value(rows, "B1", "GF(RATINGS)") == pytest.approx(0.5785, abs=1e-4)
    assert value(rows, "G1", "GF(RATINGS)") == pytest.approx(0.4049, abs=1e-4)
    assert value(rows, "B1", "GF(ORIGIN)") == pytest.approx(0.4493, abs=1e-4)
    assert value(rows, "G1", "GF(ORIGIN)") == pytest.approx(0.4303, abs=1e-4)


# The distributions of Table 2, as printed there.
ACHIEVED: dict[tuple[str, int], dict[str, list[float]]] = {
    ("B1", 1): {"RATINGS": [0, 0, 0.6, 0.4], "ORIGIN": [0, 0.8333, 0, 0, 0, 0.1667, 0, 0]},
    ("B1", 2): {"RATINGS": [0, 0, 1, 0], "ORIGIN": [0, 0.8, 0, 0.1, 0, 0, 0, 0.1]},
    ("G1", 2): {"RATINGS": [0, 0, 0, 1], "ORIGIN": [0, 0.8333, 0, 0, 0, 0.1667, 0, 0]},
}
EXAMPLE = json.loads((DATA / "gfrc_m002_example.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shares(runs: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed("score", "B1", "G1", "-m", "D(RATINGS), D(ORIGIN)", "--json", cwd=runs))
    return found


def conversation_rows(document: dict[str, Any], system: str, name: str) -> list[dict[str, Any]]:
    return [
        row
        for row in document["rows"]
        if (row["system"], row["measure"], row["trial"]) == (system, name, 1) and row["topic"]
    ]


@pytest.mark.parametrize("attribute", ["RATINGS", "ORIGIN"])
def test_the_achieved_distributions_are_those_of_table_2(shares: dict[str, Any], attribute: str) -> None:
    for (system, turn), wanted in ACHIEVED.items():
        for group, share in enumerate(wanted[attribute], start=1):
            mine = conversation_rows(shares, system, f"D({attribute}, {group})")
            (row,) = (row for row in mine if row["turn"] == turn and row["entity"] is None)
            assert row["value"] == pytest.approx(share, abs=5e-5)
            assert row["n"] == (5 if system == "B1" else 2)
    assert not [row for row in shares["rows"] if row["system"] == "G1" and row["turn"] == 1]


def test_the_memberships_behind_them_are_those_of_figure_5(shares: dict[str, Any]) -> None:
    for system, own in EXAMPLE["systems"].items():
        wanted = {
            (position, *place): share
            for turn in own["turns"]
            for _, _, position, *sets in turn["entities"]
            for name, vector in zip(("RATINGS", "ORIGIN"), sets, strict=True)
            for place, share in (((name, group), share) for group, share in enumerate(vector, start=1))
        }
        found = {
            (row["position"], name, group): row["value"]
            for name, groups in (("RATINGS", 4), ("ORIGIN", 8))
            for group in range(1, groups + 1)
            for row in conversation_rows(shares, system, f"D({name}, {group})")
            if row["entity"] is not None
        }
        assert found == pytest.approx(wanted, abs=1e-12)


def test_the_share_of_a_group_in_a_conversation_is_the_mean_over_its_turns(shares: dict[str, Any]) -> None:
    for group, wanted in enumerate([0, 0, (0.6 + 1) / 2, (0.4 + 0) / 2], start=1):
        (row,) = (one for one in conversation_rows(shares, "B1", f"D(RATINGS, {group})") if one["turn"] is None)
        assert (row["value"], row["n"]) == (pytest.approx(wanted, abs=1e-12), 2)
        assert row["note"].endswith("target 0.2500")
    assert any(note.startswith("Groups of ORIGIN: 1 Africa (target 0.2447), 2 America") for note in shares["notes"])


def test_cumulative_distributions_count_every_relevant_entity_so_far(runs: Path) -> None:
    document = json.loads(printed("score", "B1", "-m", "D_cum(RATINGS)", "--json", cwd=runs))
    found = {
        (row["turn"], int(row["measure"][-2])): row["value"]
        for group in range(1, 5)
        for row in conversation_rows(document, "B1", f"D_cum(RATINGS, {group})")
        if row["entity"] is None
    }
    assert [found[1, group] for group in range(1, 5)] == pytest.approx([0, 0, 0.6, 0.4], abs=1e-12)
    assert [found[2, group] for group in range(1, 5)] == pytest.approx([0, 0, 0.8, 0.2], abs=1e-12)


EXAMPLE_ON_THE_PAGE = next(
    block
    for block in (DOCS / "measures.md").read_text(encoding="utf-8").split("```\n")
    if block.startswith(" RATINGS ")
)


def table_rows(text: str) -> dict[str, list[list[str]]]:
    """The cells of each row of a printed table, by the row's first word."""
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("target", "S1", "S2", "GF(RATINGS)", "GF(ORIGIN)"):
            found.setdefault(words[0], []).append(words[1:])
    return found


def test_table_2_is_printed_in_full_next_to_the_target(runs: Path) -> None:
    first, second = (printed("show", system, "--groups", cwd=runs).partition("outcome:")[2] for system in ("B1", "G1"))
    assert max(map(len, first.splitlines())) <= 80
    assert "".join(f"{line.rstrip()}\n" for line in first.splitlines()[2:]).startswith(EXAMPLE_ON_THE_PAGE)
    rows = table_rows(first)
    assert rows["target"] == [
        ["0.25"] * 4,
        ["0.2447", "0.1118", "0.0084", "0.154", "0.0992", "0.2004", "0.0802", "0.1013"],
    ]
    assert rows["S1"] == [
        ["0", "0", "0.6", "0.4", "0.6773", "0.7000"],
        ["0", "0.8333", "0", "0", "0", "0.1667", "0", "0", "0.4303"],
    ]
    assert rows["S2"] == [
        ["0", "0", "1", "0", "0.4796", "0.6667"],
        ["0", "0.8", "0", "0.1", "0", "0", "0", "0.1", "0.4682"],
    ]
    # The paper prints .5785 for RATINGS, the mean of two rounded values.
    assert (rows["GF(RATINGS)"], rows["GF(ORIGIN)"]) == ([["0.5784", "0.6833"]], [["0.4492"]])
    rows = table_rows(second)
    assert rows["S1"] == [["-"] * 6, ["-"] * 9]
    assert rows["S2"][0] == ["0", "0", "0", "1", "0.4049", "0.5000"]
    assert (rows["GF(RATINGS)"], rows["GF(ORIGIN)"]) == ([["0.4049", "0.5000"]], [["0.4303"]])
    assert "groups of RATINGS: 1 " in second


def test_a_report_has_the_distributions_of_table_2_under_each_answer(runs: Path) -> None:
    report = make_report([read(runs / "G1")], beside=runs)
    (body,) = (one for chunk in report.chunks for one in json.loads(chunk))
    first, second = body["turns"]
    assert "groups" not in first
    assert second["groups"] == [
        "RATINGS: 0 0 0 1, target 0.25 0.25 0.25 0.25, similarity 0.4049 (RNOD)",
        "ORIGIN: 0 0.8333 0 0 0 0.1667 0 0, target 0.2447 0.1118 0.0084 0.154 0.0992 0.2004 0.0802 0.1013, "
        "similarity 0.4303 (JSD)",
    ]


def test_the_groups_of_a_conversation_are_in_its_json(runs: Path) -> None:
    (trial,) = json.loads(printed("show", "B1", "--groups", "--json", cwd=runs))["trials"]
    ratings, origin = trial["groups"]["sets"]
    assert (ratings["set"], origin["set"], trial["groups"]["reason"]) == ("RATINGS", "ORIGIN", "")
    assert [turn["achieved"] for turn in ratings["turns"]] == [[0, 0, 0.6, 0.4], [0, 0, 1, 0]]
    assert origin["target"] == pytest.approx(EXAMPLE["origin_gold"], abs=1e-9)
    assert [one["position"] for one in origin["nuggets"]] == POSITIONS["B1"]
    wanted = EXAMPLE["systems"]["B1"]["computed"]
    assert ratings["fairness"] == pytest.approx(
        {"RNOD": wanted["GF_RATINGS_RNOD"][2], "NMD": wanted["GF_RATINGS_NMD"][2]}
    )
    assert origin["fairness"] == pytest.approx({"JSD": wanted["GF_ORIGIN_JSD"][2]}, abs=1e-8)
    assert "groups" not in json.loads(printed("show", "B1", "--json", cwd=runs))["trials"][0]


def test_two_conversations_side_by_side_have_the_groups_of_both(runs: Path) -> None:
    beside = ("show", "B1", "G1", "--beside", "B1,G1", "--groups")
    text = printed(*beside, cwd=runs)
    for system in ("B1", "G1"):
        alone = printed("show", system, "--groups", cwd=runs).partition("outcome:")[2].partition("\n")[2].strip()
        assert f"\n{system}\n" in text
        assert alone in text.partition(f"\n{system}\n")[2]
    (trial,) = json.loads(printed(*beside, "--json", cwd=runs))["trials"]
    for system, one in zip(("B1", "G1"), trial["conversations"], strict=True):
        (shown,) = json.loads(printed("show", system, "--groups", "--json", cwd=runs))["trials"]
        assert one["groups"] == shown["groups"]
    (plain,) = json.loads(printed(*beside[:-1], "--json", cwd=runs))["trials"]
    assert all("groups" not in one for one in plain["conversations"])


def test_a_list_of_pairs_has_no_groups(demo: Path) -> None:
    done = harvest("show", demo, "--beside", "A,B", "--groups")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--groups prints a single conversation, but 225 trials would be listed" in " ".join(done.stderr.split())
    assert "GF(" in printed(
        "show", str(demo), "--beside", "A,B", "--groups", "--topic", "M001", "--trial", "1", cwd=demo
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("score", "B1", "-m", "D"), "D takes at least 1 argument, not 0"),
        (("score", "B1", "-m", "D(RATING)"), "there is no attribute set 'RATING'"),
        (("score", "B1", "-m", "D(RATINGS, 5)"), "RATINGS has no group number 5"),
        (("score", "B1", "-m", "D(RATINGS, 1.5)"), "RATINGS has no group number 1.5"),
        (("score", "B1", "-m", "D(RATINGS, 1) S2"), "D has no parameter turn"),
        (("score", "B1", "-m", "Q(D(RATINGS))"), "D(RATINGS) stands for several measures, but Q takes only one"),
    ],
)
def test_groups_that_cannot_be_shown_are_refused(runs: Path, words: tuple[str, ...], said: str) -> None:
    done = harvest(*words, cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_the_words_of_the_user_can_be_left_out_of_positions(runs: Path) -> None:
    document = json.loads(printed("score", "B1", "--user-words", "left-out", "--json", cwd=runs))
    first, second = 17, 17 + 6  # words of U1, and of U1 and U2
    positions = [place - first for place in POSITIONS["B1"][:5]] + [place - second for place in POSITIONS["B1"][5:]]
    nuggets = [row for row in document["rows"] if row["measure"] == "pw"]
    assert [row["position"] for row in nuggets] == positions
    gains = [1, 1, 1, 0.5, 1, 1, 1, 1, 1, 1]
    wanted = sum((1 - (place - 1) / 1250) * gain for place, gain in zip(positions, gains, strict=True)) / 625.5
    assert value(document["rows"], "B1", "R") == pytest.approx(wanted, abs=1e-12)
    assert document["settings"]["user_words"] == "left-out"
    assert "Positions and lengths leave the words of user turns out, as asked." in document["notes"]


def test_the_first_turn_of_G1_contains_no_relevant_nugget_and_has_no_similarity(rows: list[dict[str, Any]]) -> None:
    assert not [
        row for row in rows if row["system"] == "G1" and row["measure"] == "DistrSim(RATINGS)" and row["turn"] == 1
    ]


RATIOS = {"R": 0.098, "GF(RATINGS)": 0.7, "GF(ORIGIN)": 0.958}
"""Section 6.2: "only about 9.8%", "only about 70.0%", "about 95.8%"; the first of R as printed, .0014 / .0143."""


def test_ratios_of_G1_to_B1_are_those_of_section_6_2_and_one_topic_gives_them_no_interval(runs: Path) -> None:
    asked = ("compare", "B1", "G1", "-m", ", ".join(RATIOS))
    document = json.loads(printed(*asked, "--ratios", "--json", cwd=runs))
    found = {row["measure"]: row for row in document["long"] if row["figure"] == "ratio"}
    assert {name: round(row["estimate"], 3) for name, row in found.items()} == RATIOS | {"R": 0.097}
    relevance = {
        row["system"]: row["estimate"]
        for row in document["long"]
        if row["figure"] == "system" and row["measure"] == "R"
    }
    assert round(round(relevance["G1"], 4) / round(relevance["B1"], 4), 3) == RATIOS["R"]
    for row in found.values():
        assert (row["system"], row["other"], row["low"], row["high"]) == ("G1", "B1", None, None)
        assert row["note"] == "one topic: nothing to resample" or "too few to show its tail" in row["note"]
    shown = printed(*asked, "--ratios", cwd=runs)
    assert "G1 / B1" in shown
    assert all(f"{share}%" in shown for share in ("9.7", "70.0", "95.8"))


def test_ratios_are_printed_only_on_request(runs: Path) -> None:
    asked = ("compare", "B1", "G1", "-m", "R")
    plain, more = (json.loads(printed(*asked, *option, "--json", cwd=runs)) for option in ((), ("--ratios",)))
    assert [row for row in more["long"] if row["figure"] != "ratio"] == plain["long"]
    assert "ratio" not in {row["figure"] for row in plain["long"]}
    assert "Fieller" not in printed(*asked, cwd=runs)
    assert "R & G1 / B1 & " in printed(*asked, "--ratios", "--latex", "--long", cwd=runs)
    paper = printed(*asked, "--ratios", "--latex", cwd=runs)
    assert r"topics & ratio \\" in paper
    assert r" & G1 / B1: 9.7\% \\" in paper
    assert "ratio" not in printed(*asked, "--latex", cwd=runs)
