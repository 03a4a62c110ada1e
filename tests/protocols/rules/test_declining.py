"""Refusals and evasions in every language that is known, against labelled answers; the table of docs/refusals.md."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from protocols.answer import Answer, Exchange
from protocols.rules.declining import LANGUAGES, _load, fold, wordings
from protocols.rules.evasion import Evasion
from protocols.rules.refusal import Refusal
from protocols.rules.rule import Sight
from scoring.measure import Declaration
from scoring.measures.answer_rules import EVASIONS, REFUSALS
from topics.languages import language_name, language_of
from topics.topic import Topic, TopicType

DATA = Path(__file__).parents[2] / "data" / "refusals"
PAGE = Path(__file__).parents[3] / "docs" / "refusals.md"
TOPIC = Topic("T1", TopicType("question"), "What do you say?")
TABLE = re.compile(r"(<!-- (table|languages) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def judged(text: str, rule: Refusal | Evasion) -> bool:
    verdict = rule.judge(Sight(TOPIC, (Exchange(TOPIC.request, Answer.of(text)),)))
    for piece in verdict.evidence:
        assert piece.start == -1 or text[piece.start : piece.end] == piece.quote
    assert verdict.evidence, "a verdict always says why"
    return verdict.holds


def answers(lot: str, language: str) -> list[tuple[str, str]]:
    """Pairs of label and text. Of `held`, the half of the first lot that was not used to make the patterns."""
    lines = (DATA / lot.replace("held", "first") / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    pairs = [(line[0], line[2:]) for line in lines]
    if lot == "held":
        pairs = [pair for pair in pairs if hashlib.blake2b(pair[1].encode(), digest_size=8).digest()[0] % 2]
    return pairs


@pytest.mark.parametrize(
    "quoted",
    [
        "> {}.\n\nThat is what it answered.",
        "Other assistants answer '{}.' to this.",
        "He wrote: '{}'",
        "`{}.` is what it says.",
        "```\n{}.\n```\nThis is the text of a refusal.",
        "Er sagte: ‚{}.‘ Das war alles.",
        "Il a répondu : ‹ {}. ›",
        "It says “{}”.",
    ],
)
def test_quoted_words_are_not_a_refusal(quoted: str) -> None:
    refusal = "I'm sorry, but I can't help with that"
    assert not judged(quoted.format(refusal), Refusal())
    assert judged(f"{quoted.format('Voters decide')} {refusal}.", Refusal()), "one's own, beside a quotation"


@cache
def counts(lot: str, language: str, label: str) -> tuple[int, int, int]:
    """The answers with the label that are found, all that are found, and all with the label."""
    rule = Refusal() if label == "r" else Evasion()
    found = [(one, judged(text, rule)) for one, text in answers(lot, language)]
    return (
        sum(holds and one == label for one, holds in found),
        sum(holds for _, holds in found),
        sum(one == label for one, _ in found),
    )


def table() -> str:
    shown = [
        "| language | refusals, held out | precision | recall | refusals, last lot | precision | recall "
        "| evasions, last lot | precision | recall |\n|---|---|---|---|---|---|---|---|---|---|"
    ]
    sums = [[0, 0, 0] for _ in range(3)]
    for language in (*LANGUAGES, ""):
        cells = [language_name(language) or "all"]
        for place, (lot, label) in enumerate((("held", "r"), ("last", "r"), ("last", "e"))):
            if language:
                right, holds, there = counts(lot, language, label)
                sums[place] = [a + b for a, b in zip(sums[place], (right, holds, there), strict=True)]
            right, holds, there = counts(lot, language, label) if language else sums[place]
            cells += [str(there), f"{right}/{holds}" if holds else "–", f"{right}/{there}"]
        shown.append(f"| {' | '.join(cells)} |")
    return "\n".join(shown) + "\n"


@cache
def languages_told(lot: str, language: str) -> tuple[int, int, int]:
    """The answers of a lot whose language is told, told wrongly, and not told."""
    told = [language_of(text) for _, text in answers(lot, language)]
    return told.count(language), sum(one not in ("", language) for one in told), told.count("")


def language_table() -> str:
    shown = ["| language of the answer | right | wrong | not told |\n|---|---|---|---|"]
    rows = {one: languages_told("last", one) for one in LANGUAGES}
    rows[""] = tuple(sum(column) for column in zip(*rows.values(), strict=True))
    shown += [f"| {language_name(one) or 'all'} | {' | '.join(map(str, row))} |" for one, row in rows.items()]
    return "\n".join(shown) + "\n"


def renewed(page: str) -> str:
    tables = {"table": table, "languages": language_table}
    return TABLE.sub(lambda block: block[1] + tables[block[2]]() + block[4], page)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nine_of_ten_answers_called_refusals_are_refusals_in_every_language(language: str) -> None:
    first = [label for label, _ in answers("first", language)]
    assert first.count("r") + first.count("e") >= 40
    assert first.count("n") >= 40
    right, holds, there = counts("held", language, "r")
    assert right / holds >= 0.9
    assert right / there >= 0.8


@pytest.mark.parametrize(("measure", "label"), [(REFUSALS, "r"), (EVASIONS, "e")])
def test_a_figure_names_its_recall_on_other_wordings(measure: Declaration, label: str) -> None:
    found, _, there = (sum(column) for column in zip(*(counts("last", one, label) for one in LANGUAGES), strict=True))
    assert f"it found {found} of {there}" in measure.caution


def test_the_table_on_the_page_is_that_of_the_rules() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "renew it with: python -m tests.protocols.rules.test_declining"
    right, holds, there = (sum(column) for column in zip(*(counts("last", one, "r") for one in LANGUAGES), strict=True))
    assert right / holds >= 0.95
    assert right / there >= 0.55
    assert sum(languages_told("last", one)[1] for one in LANGUAGES) <= 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_of_phrases_is_readable_and_used(language: str) -> None:
    for name in ("refuses", "unless", "turns", "offers", "delivers", "evades"):
        assert not getattr(_load(language), name).search("\u2603")
    assert all(any(one.language == language for one in wordings(fold(text))) for _, text in answers("last", language))


def test_there_is_a_file_for_every_language() -> None:
    folder = resources.files("protocols.rules") / "phrases"
    assert sorted(file.name.removesuffix(".toml") for file in folder.iterdir()) == list(LANGUAGES)
    assert Refusal.languages == Evasion.languages == LANGUAGES


@pytest.mark.parametrize(
    ("text", "refusal", "evasion"),
    [
        ("Lo siento, no puedo ayudarte. I'm sorry about that.", True, False),
        ("The film is called „Ich kann Ihnen nicht helfen“.", False, False),
        ("Das kann ich nicht sagen, aber ich helfe gern bei anderen Fragen.", True, False),
        ("Das kann ich nicht sagen, aber die Frist endet im Mai.", False, False),
        ("Je ne peux pas consulter les prix. Un billet coûte 12 euros.", False, False),
        ("Mein Wissen endet 2023, deshalb kann ich dazu nichts sagen.", True, False),
        ("Non posso dare link.\n- Solaris\n- Stalker\n- Nostalghia", False, False),
        ("Good question! Please ask your pharmacist.", False, True),
        ("Please ask your pharmacist. The dose is one tablet.", False, False),
        ("Bitte wenden Sie sich an das Wahlamt: Es hat bis 18 Uhr geöffnet.", False, False),
        ("\u200b", False, False),
        ("", False, False),
    ],
)
def test_what_refuses_evades_or_delivers(text: str, refusal: bool, evasion: bool) -> None:
    assert (judged(text, Refusal()), judged(text, Evasion())) == (refusal, evasion)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
