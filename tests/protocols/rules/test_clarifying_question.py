"""Clarifying questions: an answer that asks what it needs to know and delivers nothing, and what only looks like it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer, Attachment, Exchange, Offer, Source
from protocols.questions import clarifying_question
from protocols.rules.clarifying_question import ClarifyingQuestion
from protocols.rules.offer import Offer as OfferRule
from protocols.rules.rule import Sight, Verdict
from topics.topic import Topic, TopicType

TABLE = Path(__file__).parents[2] / "data" / "clarifying_questions.tsv"
TOPIC = Topic("T1", TopicType("movie"), "A film about time travel, please.")
FRIENDLY = (
    "Which year do you mean?",
    "Could you tell me which year you mean.",
    "Um welches Jahr geht es?",
    "¿A qué año se refiere?",
    "どの年ですか。",
    "ποια χρονιά εννοείτε;",
)


def judged(answer: Answer) -> Verdict:
    verdict = ClarifyingQuestion().judge(Sight(TOPIC, (Exchange(TOPIC.request, answer),)))
    for piece in verdict.evidence:
        assert piece.start == -1 or answer.text[piece.start : piece.end] == piece.quote
    assert verdict.evidence, "a verdict always says why"
    return verdict


def examples() -> list[tuple[str, str, bool]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["written"], row["text"].replace("\\n", "\n"), row["asks"] == "yes") for row in rows]


@pytest.mark.parametrize(
    ("written", "precision", "recall"),
    # `last` was written after the patterns: tests/data/README.md says what was found of it at first.
    [("first", 1.0, 1.0), ("second", 1.0, 1.0), ("last", 0.9, 0.95), ("own", 0.97, 0.98), ("later", 0.95, 0.97)],
)
def test_most_questions_are_recognised_and_few_near_misses(written: str, precision: float, recall: float) -> None:
    rows = [(text, asks) for kind, text, asks in examples() if kind == written]
    assert 0.4 <= sum(asks for _, asks in rows) / len(rows) <= 0.6
    found = {text: judged(Answer.of(text)).holds for text, _ in rows}
    wrong = [text for text, asks in rows if found[text] and not asks]
    missed = [text for text, asks in rows if asks and not found[text]]
    right = sum(asks and found[text] for text, asks in rows)
    assert right / (right + len(wrong)) >= precision, wrong
    assert right / (right + len(missed)) >= recall, missed


def test_parts_in_addition_to_the_text_are_a_delivery_except_suggested_replies() -> None:
    question = "Which year do you mean?"
    assert judged(Answer(question, offers=(Offer("1999"), Offer("2004")))).holds
    assert not judged(Answer(question, sources=(Source("https://example.org/"),))).holds
    assert not judged(Answer(question, attachments=(Attachment("films.pdf"),))).holds
    assert not judged(Answer.of(f"{question} See https://example.org/")).holds


@pytest.mark.parametrize("question", FRIENDLY)
def test_an_answer_of_several_paragraphs_asks_only_if_nothing_else_is_said(question: str) -> None:
    assert judged(Answer(f"Sure!\n\n{question}")).holds
    assert not judged(Answer(f"```\npip install primer\n```\n{question}")).holds
    assert not judged(Answer(f"- Primer (2004)\n- Looper (2012)\n- Coherence (2013)\n\n{question}")).holds
    assert not judged(Answer(f"Here are three films: Primer, Looper and Coherence. {question}")).holds
    assert not judged(Answer(f"{'Time travel is a theme of many films. ' * 20}{question}")).holds


@pytest.mark.parametrize("question", FRIENDLY)
def test_a_quotation_asks_nothing(question: str) -> None:
    for left, right in ("“”", "«»", "「」", '""'):
        assert not judged(Answer(f"The film is called {left}{question}{right}.")).holds
    assert not judged(Answer(f"> {question}\n\nThat is its first line.")).holds


def test_choices_are_part_of_the_question_before_them() -> None:
    asked = clarifying_question(Answer("There are two.\nWhich of them do you mean?\n1. The novel\n2. The film"))
    assert asked is not None
    assert asked.closed
    assert judged(Answer("Before I can look:\n1. Which model is it?\n2. When did you buy it?")).holds
    assert not judged(Answer("1. The novel\n2. The film\nWhich of them sounds good?")).holds


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("are you looking for a film or a series", True),
        ("would you like to see a list of directors", True),
        ("would you like to learn more about the director", True),
        ("which district do you live in", True),
        ("is this for a school project", True),
        ("would you like to know more", False),
        ("It is from 1979. Would you like to know who made it?", False),
        ("Do it now.", False),
        ("What you need is a new battery.", False),
    ],
)
def test_an_offer_asks_only_if_nothing_was_delivered_with_it(text: str, asks: bool) -> None:
    assert judged(Answer(text)).holds == asks


@pytest.mark.parametrize("ending", ["Which one do you prefer?", "Could you tell me which you prefer?"])
@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Solaris and Stalker are slow and beautiful.", False),
        ("The last tram to Pankow leaves at midnight from platform two.", False),
        ("“Solaris” is slow and beautiful.", False),
        ("The one that most people enjoy is by Tarkovsky.", False),
        ("There are several, some slow and some quick.", True),
        ("It depends on your taste.", True),
    ],
)
def test_politeness_does_not_change_a_clarifying_question(text: str, asks: bool, ending: str) -> None:
    assert judged(Answer(f"{text} {ending}")).holds == asks


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Stalker y Solaris le gustarán. ¿Puede decirme qué género prefiere?", False),
        ("Le dernier tram pour Lyon part à minuit. Pouvez-vous préciser votre arrêt ?", False),
        ("Un film lento è Stalker. Mi dica quale genere preferisce.", False),
        ("O filme mais lento é Stalker. Pode dizer-me o género?", False),
        ("Een trage film is Stalker. Kunt u mij vertellen welk genre u zoekt?", False),
        ("『惑星ソラリス』が有名です。お好きなジャンルを教えてください。", False),
        ("《飞向太空》很有名。请告诉我您喜欢的类型。", False),
        ("Больше всего смотрят «Солярис». Подскажите, какой жанр вам нужен?", False),
        ("Prices differ from season to season. Could you tell me your dates?", True),
        ("Les prix varient selon la saison. Pouvez-vous préciser vos dates ?", True),
        ("Los precios cambian con la temporada. ¿Puede decirme sus fechas?", True),
        ("季節で料金が変わります。ご希望の日程を教えてください。", True),
    ],
)
def test_an_explanation_of_a_request_names_nothing(text: str, asks: bool) -> None:
    assert judged(Answer(text)).holds == asks


@pytest.mark.parametrize(
    ("text", "offers"),
    [
        ("Hello! What can I do for you?", True),
        ("Shall I look for hotels?", True),
        ("Guten Abend! Womit kann ich Ihnen helfen?", True),
        ("Souhaitez-vous que je cherche d'autres hôtels ?", True),
        ("¿Quiere que le busque otros?", True),
        ("Vuole che ne cerchi altri?", True),
        ("ほかにお手伝いできることはありますか。", True),
        ("您好！我再找几个好吗？", True),
        ("Привет! Чем я могу помочь?", True),
        ("Was that helpful? Is there anything else?", True),
        ("No. Is there anything else?", False),
        ("It opens at nine. Is there anything else?", False),
        ("How about the Adlon?", False),
        ("Shall I look for hotels or for hostels?", False),
        ("If you need help, dial 112.", False),
        ("Which town do you mean?", False),
        ("Is there anything else? It is called “Adlon”.", False),
        ("", False),
    ],
)
def test_an_offer_alone_gives_nothing(text: str, offers: bool) -> None:
    sight = Sight(TOPIC, (Exchange(TOPIC.request, Answer(text)),))
    assert OfferRule().judge(sight).holds == offers
    assert not OfferRule().judge(Sight(TOPIC, (Exchange("", Answer(text, offers=(Offer("Menu"),))),))).holds


def test_a_list_of_requirements_is_a_question_but_a_list_of_films_with_a_question_is_not() -> None:
    needed = "- Your budget\n- The number of guests\n- Your dates"
    films = "- **Primer**: a puzzle\n- **Looper**: a thriller\n- **Coherence**: a chamber piece"
    for text, asks in (
        (f"Of course! Before I suggest anything, I need a few details:\n\n{needed}\n\nThen I can start!", True),
        ("Gladly. Could you tell me:\n1. **Budget**: how much is it?\n2. **Era**: any decade?\n3. **Genre**", True),
        ("もちろんお手伝いします！以下の点を教えていただけますか？\n1. ご予算\n2. ご希望の日程\n3. 人数", True),
        ("¡Claro! ¿Podrías decirme lo siguiente?\n- Presupuesto\n- Fechas\n- Personas", True),
        (f"Great choice! They come in many kinds:\n\n{films}\n\nWhich of these sounds most interesting?", False),
        ("To reset it:\n1. Unplug it.\n2. Wait.\n3. Plug it in again.\n\nDid that fix the problem?", False),
    ):
        assert judged(Answer(text)).holds == asks, text


def test_the_evidence_is_the_sentence_that_asks() -> None:
    (piece,) = judged(Answer("Gladly. Which year do you mean? I know several.")).evidence
    assert piece.quote == "Which year do you mean?"
    (piece,) = judged(Answer("Primer is from 2004.")).evidence
    assert piece.start == -1


@given(text=st.text(max_size=300))
def test_any_strange_answer_is_judged(text: str) -> None:
    judged(Answer(text))


@pytest.mark.parametrize("piece", ["can you ", "? ", "I need ", "- a?\n", '"', "您", "¿", "could you kindly ", "; α"])
def test_an_answer_longer_than_a_question_is_not_a_question(piece: str) -> None:
    judged(Answer(piece * (3_900 // len(piece))))
    assert not judged(Answer(piece * (1_000_000 // len(piece)) + "Which year do you mean?")).holds
    assert judged(Answer(f"Which year do you mean?{' ' * 10_000}")).holds
