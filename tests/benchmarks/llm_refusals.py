"""How many turns of real people the rules for a model's words would refuse.

    python -m tests.benchmarks.llm_refusals DATA

DATA holds `iard`, `cast2022`, `dbdc3_en` and `sim4ia` as published. Prints a table: for each collection the turns of
people, and of these the share that each rule refuses (a false alarm, but for the two rules that forbid what people do
too: apologies and turns that are said again). docs/simulators/llm.md shows it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulators.llm.acceptance import REFUSED, ExpectedTurn, refusal_reason, strip_reasoning
from topics.topic import Topic, TopicType

LONGEST = 400
NOTHING = Topic("", TopicType("", "", None), "")


def dialogues(data: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(collection, [(speaker, text), …]); the speaker is U for people."""
    for dialogue in read_json(data / "iard" / "umap2020_IARD_Cai.json").values():
        turns = dialogue["dialogue_info"].values()
        yield "IARD", [("U" if turn["role"] == "seeker" else "S", turn["utterance_text"]) for turn in turns]
    for topic in read_json(data / "cast2022" / "2022_evaluation_topics_flattened_duplicated_v1.0.json"):
        pairs = [(("U", turn["utterance"]), ("S", turn.get("response") or "")) for turn in topic["turn"]]
        yield "CAsT 2022", [turn for pair in pairs for turn in pair]
    for file in sorted((data / "dbdc3_en" / "dev").glob("*.json")):
        for dialogue in read_json(file)["dialogues"]:
            yield "DBDC3", [(turn["s"], turn["u"]) for turn in dialogue["turns"]]
    for queries in read_json(data / "sim4ia" / "evaluation_sessions_Task_B.json").values():
        yield "Sim4IA", [("U", query) for query in queries]


def refusals(turns: list[tuple[str, str]]) -> Iterator[str | None]:
    """What each of a person's turns would be refused as."""
    earlier: list[str] = []
    answer = ""
    for speaker, text in turns:
        if speaker != "U":
            answer = text
            continue
        yield refusal_reason(
            strip_reasoning(text), "stop", ExpectedTurn("", NOTHING, tuple(earlier), answer, "", LONGEST)
        )
        earlier.append(text)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    counts: dict[str, Counter[str | None]] = {}
    for collection, turns in dialogues(Path(sys.argv[1])):
        counts.setdefault(collection, Counter()).update(refusals(turns))
    reasons = [reason for reason in REFUSED if any(found[reason] for found in counts.values())]
    print("| turns of people | " + " | ".join(f"{name} ({found.total()})" for name, found in counts.items()) + " |")
    print("|---" * (len(counts) + 1) + "|")
    for reason in reasons:
        shares = (f"{100 * found[reason] / found.total():.2f} %" for found in counts.values())
        print(f"| `{reason}` | " + " | ".join(shares) + " |")
    sent = (f"{100 * found[None] / found.total():.2f} %" for found in counts.values())
    print("| none | " + " | ".join(sent) + " |")


if __name__ == "__main__":
    main()
