"""What is printed of where two systems part, and what programs get."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

from harvest.studies.trees.parted_systems import PartedSystems, PartingTurn
from harvest.studies.trees.parting_figures import parting_document, parting_lines
from scoring.statistics.same_source import SameSource
from scoring.stochastic.parting import Pair

PAIRS = (Pair("M 1", 1, 2), Pair("M2", 1, 1))
ASKED = PartingTurn(
    ("U ask",), "S o", (20, 20), (18, 9), (0.9, 0.45), 0.8, 0.004, (Pair("M 1", 1, 2), Pair("M2", 1, 1))
)
LEFT = PartingTurn(("U ask", "S x"), "■ breakdown", (2, 11), (0, 5), (0.0, 5 / 11), 0.17, math.nan, ())
RARE = PartingTurn(("U ask", "S o"), "■ end", (18, 9), (1, 0), (1 / 18, 0.0), 0.03, 0.9, ())
FOUND = PartedSystems(
    "A", "B", "label", 4, (20, 20), 0.1234, 0.05, 0.0002, (ASKED, LEFT, RARE), 2, 1, "", SameSource(0.3, 40, 4, 999)
)
SHOWN = {"A": (Path("runs/one"), "A"), "B": (Path("runs/two"), "the bot")}


def test_each_turn_has_its_way_both_shares_its_part_its_p_and_an_example_to_read() -> None:
    assert list(parting_lines(FOUND, SHOWN)) == [
        "Where the conversations of A and B part, merged by label:",
        "their trees differ by 0.123 bits of at most 1 (by chance alone: 0.050), p <.001, of these 4 topics",
        "  80%  U ask → S o: A 90% (18/20), B 45% (9/20); p .004",
        "       harvest show runs/one --system A --topic 'M 1' --trial 1",
        "       harvest show runs/two --system 'the bot' --topic 'M 1' --trial 2",
        "  17%  U ask → S x → ■ breakdown: A 0% (0/2), B 45% (5/11); not tested",
        "   3%  1 other turn together",
        "%: share of the whole difference of the trees",
        "p: among trials that came there, corrected over 2 turns tested; 1 turn had too few conversations to test",
        "texts of first answers: no sign that they are from different systems, p .300 (40 texts of 4 topics); "
        "this says nothing about which is better",
    ]


def test_reasons_replace_figures() -> None:
    refused = replace(FOUND, refused="one trial each", texts=SameSource(math.nan, 0, 0, 999))
    said = list(parting_lines(refused, SHOWN))
    assert "no p of single turns: one trial each" in said
    assert said[-1] == "first answers: too few with words of any topic to say whether both are the same system"
    nowhere = list(parting_lines(replace(FOUND, turns=(), divergence=0.0), SHOWN))
    assert nowhere[1] == "nowhere: over 4 topics both took every branch and came to every end as often"
    assert len(nowhere) == 3
    unknown = list(parting_lines(replace(FOUND, turns=(), divergence=0.0, tells_ends=False), SHOWN))
    assert unknown[1:3] == [
        "nowhere: over 4 topics both took every branch as often",
        "ends are not distinguished, because some conversations have no recorded end",
    ]
    other = list(parting_lines(replace(FOUND, texts=SameSource(0.001, 40, 4, 999)), SHOWN))
    assert "not from the same system, p .001" in other[-1]


def test_a_systems_name_cannot_steer_a_terminal() -> None:
    evil = replace(FOUND, first="A\x1b[2J")
    said = "\n".join(parting_lines(evil, {**SHOWN, "A\x1b[2J": (Path("r"), "A\x1b[2J")}))
    assert "\x1b" not in said


def test_machine_readable_output_has_every_turn_and_null_for_undefined_figures() -> None:
    document = json.loads(json.dumps(parting_document(FOUND), allow_nan=False))
    assert [turn["p_corrected"] for turn in document["turns"]] == [0.004, None, 0.9]
    assert document["turns"][0]["pairs"][0] == {"topic": "M 1", "first": 1, "second": 2}
    assert document["estimand"] == "these"
    assert document["refused"] is None
