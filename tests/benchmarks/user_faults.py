"""In how many turns of real people the card of the user sees a fault: false alarms, as no model worded them.

    python -m tests.benchmarks.user_faults DATA [--show FAULT]

DATA holds `iard`, `cast2022`, `dbdc3_en` and `sim4ia` as published. Of people it is not known what they meant to say,
so the faults that need the policy's words are looked for where such words are known: CAsT has a rewriting by hand of
each utterance, with what it leaves to the context. Prints the table of docs/simulators/llm.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from simulators.llm.faults import FAULTS, UserTurn, fault_of, share_of_words_added
from tests.benchmarks.llm_refusals import dialogues, read_json
from tests.support.later_turns import LATER_NEEDS


def turns(told: list[tuple[str, str]]) -> Iterator[UserTurn]:
    """Every turn of a person, with nothing known of what it was to say but that it is in the language of the first."""
    earlier: list[tuple[str, str]] = []
    answer, first = "", next((text for speaker, text in told if speaker == "U"), "")
    for speaker, text in told:
        if speaker != "U":
            answer = text
            continue
        yield UserTurn(text, earlier=tuple(earlier), answer=answer, need=(first,) if text != first else ())
        earlier.append((text, ""))


def rewritten(data: Path) -> Iterator[UserTurn]:
    """CAsT's utterances, as wordings of what they are rewritten as."""
    for topic in read_json(data / "cast2022" / "2022_evaluation_topics_flattened_duplicated_v1.0.json"):
        earlier: list[tuple[str, str]] = []
        answer = ""
        for turn in topic["turn"]:
            said, meant = turn["utterance"], turn["manual_rewritten_utterance"]
            yield UserTurn(said, meant, "ask", tuple(earlier), answer)
            earlier.append((said, meant))
            answer = turn.get("response") or ""


def later_turns() -> Iterator[tuple[str, UserTurn]]:
    """(fault, turn) of turns that changed no pattern; the fault of an honest one is ""."""
    for need in LATER_NEEDS.values():
        for fault, told in (("", need.honest), *need.faulty.items()):
            yield from ((fault, UserTurn(said, need.intended, "ask", need=(need.request,))) for said in told)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--show")
    given = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    every = [(name, turn) for name, told in dialogues(given.data) for turn in turns(told)]
    every += [("CAsT, rewritten", turn) for turn in rewritten(given.data)]
    for name, turn in every:
        found = fault_of(turn)
        counts.setdefault(name, Counter())[found] += 1
        if given.show and found == given.show:
            print(f"{name}: {turn.said!r} <- {turn.intended!r}")
    print("| turns of people | " + " | ".join(f"{name} ({found.total()})" for name, found in counts.items()) + " |")
    print("|---" * (len(counts) + 1) + "|")
    for fault in FAULTS:
        if any(found[fault] for found in counts.values()):
            shares = (f"{100 * found[fault] / found.total():.2f} %" for found in counts.values())
            print(f"| `{fault}` | " + " | ".join(shares) + " |")
    seen = [(fault, fault_of(turn)) for fault, turn in later_turns()]
    added = [share for turn in rewritten(given.data) if (share := share_of_words_added(turn)) == share]
    named = sum(fault == found for fault, found in seen if fault)
    faulty = [found for fault, found in seen if fault]
    alarms = [found for fault, found in seen if not fault]
    whole = (f"{100 * found[''] / found.total():.2f} %" for found in counts.values())
    print("| none | " + " | ".join(whole) + " |")
    print(f"later turns: {named} of {len(faulty)} by their name, {sum(map(bool, faulty))} with a fault; ", end="")
    print(f"{sum(map(bool, alarms))} of {len(alarms)} honest ones with a fault")
    print(f"CAsT, rewritten: of the words {100 * sum(added) / len(added):.1f} % are added")


if __name__ == "__main__":
    main()
