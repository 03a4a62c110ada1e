"""Lengths in characters where words have no blanks: which unit counts, what a character is, and every measure of it."""

import math
import unicodedata
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.conversations import default_columns, default_figures, figure
from scoring.library import read_term
from scoring.measures.relevance import hard_normaliser
from scoring.notation import parse
from scoring.scores import SHIPPED, score
from scoring.settings import Settings
from scoring.swan.assessment import TopicData, assess
from scoring.swan.extraction import extract_nuggets
from scoring.swan.item import nugget_items, turn_items
from scoring.swan.rules.brevity import brevity_rule
from scoring.swan.rules.padding import PADDING
from scoring.swan.schema import load_schema
from scoring.swan.weighting import Linear, Places, parse_weighting
from scoring.words import length, passages, unit_of, word_count
from tests.support.scoring_examples import M002, conversation, movie, paper_gold, seen, topic_set

QUESTION = "駅の近くに映画館はありますか教えて"  # 17 characters
ANSWER = "はい、北口を出て右に一軒あります。今夜は次の作品です："  # 27
RELEVANT = next(entry.entity for entry in paper_gold().entries("M002") if entry.grade == 2)
JAPANESE = conversation((QUESTION, ANSWER + RELEVANT))
ENGLISH = conversation(("Is there a cinema?", f"Yes, to the right. Tonight: {RELEVANT}"))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (ANSWER, "characters"),
        ("北口右边有一家电影院。今晚放映这部片子。", "characters"),
        ("มีโรงหนังอยู่ทางขวาของสถานี คืนนี้ฉายเรื่องนี้", "characters"),
        ("ມີໂຮງໜັງຢູ່ເບື້ອງຂວາ", "characters"),
        ("មានរោងកុននៅខាងស្តាំ", "characters"),
        ("ညာဘက်မှာ ရုပ်ရှင်ရုံရှိတယ်", "characters"),
        ("གཡས་ཕྱོགས་སུ་གློག་བརྙན་ཁང་ཡོད།", "characters"),
        ("역 오른쪽에 영화관이 하나 있습니다.", "words"),
        ("大韓民國의 首都는 서울이며 오른쪽에 영화관이 있습니다 그리고 하나 더 있습니다", "words"),
        ("Справа есть кинотеатр.", "words"),
        ("दाईं ओर एक सिनेमा है।", "words"),
        ("Yes, on the right – a café’s next to it.", "words"),
        ("", "words"),
        (f"{RELEVANT} {RELEVANT} こちらです", "characters"),  # addresses are in no script
        ("The film 千と千尋の神隠し is a good choice for tonight", "words"),
        ("映画 Back to the Future はいかがでしょうか", "characters"),
        ("一 two", "words"),  # neither takes longer
    ],
)
def test_the_unit_is_the_one_whose_text_takes_longer_to_read(text: str, unit: str) -> None:
    assert unit_of((text,)) == unit
    assert unit_of((text,), "words") == "words"
    assert unit_of((text,), "characters") == "characters"


def test_a_conversation_has_one_unit_for_all_its_answers() -> None:
    mixed = conversation((QUESTION, "OK"), ("and?", ANSWER))
    assert {one.unit for one in passages(mixed)} == {"characters"}
    assert [one.words for one in passages(mixed)] == [17, 2, 4, 27]
    assert {one.unit for one in passages(conversation((QUESTION, "It is on the right.")))} == {"words"}


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("本 屋　です。", 5),
        ("ガラス", 3),
        ("มีที่นี่", 3),
        ("a b\u200bc", 3),
        (f"見る：{RELEVANT}", 4),
        ("", 0),
        (" \u3000\n", 0),
    ],
)
def test_a_character_is_one_to_the_reader_and_an_address_is_one(text: str, characters: int) -> None:
    assert length(text, "characters") == characters


KANA = st.text(st.sampled_from("あがパ漢字。、 ก็ที่ab1\u3099\u200b\n"), max_size=40)


@given(KANA)
def test_a_text_has_one_length_in_every_normal_form(text: str) -> None:
    forms = {length(unicodedata.normalize(form, text), "characters") for form in ("NFC", "NFD")}
    assert forms == {length(text, "characters")}


@given(st.lists(st.tuples(KANA, KANA), min_size=1, max_size=3))
def test_positions_in_characters_add_up_over_the_conversation(texts: list[tuple[str, str]]) -> None:
    spoken = passages(conversation(*texts), "characters")
    before = 0
    for one in spoken:
        assert one.before == before
        ends = one.positions(range(len(one.text) + 1))
        assert ends == sorted(ends)
        assert ends[-1] == max(1, before + length(one.text, "characters")) == max(1, before + one.words)
        assert all(after - sooner <= 1 for sooner, after in pairwise(ends))
        before += one.words


@given(st.lists(st.text(st.sampled_from("abé’ß–Ж가 \n.1"), max_size=40), min_size=2, max_size=4))
def test_text_written_with_blanks_is_measured_as_before(texts: list[str]) -> None:
    talk = conversation(*zip(texts[::2], texts[1::2]))
    assert passages(talk) == passages(talk, "words")
    assert all(one.words == word_count(one.text) for one in passages(talk))


def value(talk: object, name: str, settings: Settings | None = None) -> float:
    asked = settings or Settings()
    topics = topic_set(M002)
    (measure,) = read_term(parse(name), asked, topics, load_schema(SHIPPED))
    found = figure(seen(talk, M002, paper_gold()).under(measure.settings), measure)  # type: ignore[arg-type]
    assert found is not None
    return found.value


POSITION = 17 + 27 + 1


@pytest.mark.parametrize("limit", [1000, 600])
def test_positional_measures_count_characters_with_their_own_limit(limit: int) -> None:
    with_it = Settings(patience_characters=limit)
    weight = 1 - (POSITION - 1) / limit
    assert value(JAPANESE, "R", with_it) == weight / hard_normaliser(limit)
    assert value(JAPANESE, "U-measure", with_it) == weight
    assert value(JAPANESE, f"R(Lc={limit})") == value(JAPANESE, "R", with_it)
    assert value(JAPANESE, "R(L=3)", with_it) == value(JAPANESE, "R", with_it)  # L counts words
    relevant = [one for one in paper_gold().entries("M002") if Settings().gain(one.grade) > 0]
    gains = sorted((Settings().gain(one.grade) for one in relevant), reverse=True)
    best = math.fsum(gain * max(0, limit - place) for place, gain in enumerate(gains, start=1))
    assert value(JAPANESE, "S-measure", with_it) == pytest.approx((limit - POSITION) / best, rel=1e-12)
    assert value(JAPANESE, "T-measure", with_it) == 1 / POSITION


def entity(title: str) -> str:
    return next(entry.entity for entry in paper_gold().entries("M002") if entry.title == title)


def test_a_conversation_in_japanese_has_the_R_U_and_GF_computed_by_hand() -> None:
    names = ("Back to the Future", "Interstellar", "Looper")  # L2, L1 and L2; groups 4, 4 and 3 of RATINGS
    first, second, third = map(entity, names)
    talk = conversation((QUESTION, f"{ANSWER}{first}\n続編：{second}"), ("もっと", f"はい：{third}"))
    places = [17 + 27 + 1, 45 + 3 + 1, 49 + 3 + 3 + 1]  # characters, with an address as one
    assert [one.position for one in seen(talk, M002, paper_gold()).nuggets] == places == [45, 49, 56]
    worth = 0.956 * 1 + 0.952 * 0.5 + 0.945 * 1  # 1 - 44/1000, 1 - 48/1000, 1 - 55/1000
    assert value(talk, "U-measure") == pytest.approx(worth, abs=1e-12)
    assert value(talk, "R") == pytest.approx(worth / 500.5, abs=1e-12)
    # RNOD² of (0, 0, 0, 1) and of (0, 0, 1, 0) from a uniform target is (30 + 20 + 12 + 6)/16/4/3 and (22 + 12 + 4 +
    # 14)/16/4/3.
    similar = [1 - math.sqrt(17 / 48), 1 - math.sqrt(13 / 48)]
    assert value(talk, "GF(RATINGS)") == pytest.approx(sum(similar) / 2, abs=1e-12)
    weighted = (0.956 * similar[0] + 0.945 * similar[1]) / (0.956 + 0.945)
    assert value(talk, "GF(RATINGS, turn_weight=largest-pw)") == pytest.approx(weighted, abs=1e-12)
    # Without the user's characters: 28, 32 and 36.
    system_alone = Settings(user_words="left-out")
    assert value(talk, "R", system_alone) == pytest.approx((0.973 + 0.969 * 0.5 + 0.965) / 500.5, abs=1e-12)
    assert value(talk, "T-measure", system_alone) == pytest.approx(3 / 36, abs=1e-12)


def test_either_unit_can_be_forced() -> None:
    words, characters = Settings(unit="words"), Settings(unit="characters")
    assert value(JAPANESE, "R", words) == (1 - 1 / 1250) / hard_normaliser(1250)
    read = length("Is there a cinema?", "characters") + length("Yes, to the right. Tonight:", "characters") + 1
    assert value(ENGLISH, "R", characters) == (1 - (read - 1) / 1000) / hard_normaliser(1000)
    assert value(ENGLISH, "R") == value(ENGLISH, "R", words)


def test_the_weight_of_turns_in_gf_counts_characters() -> None:
    later = conversation((QUESTION, ANSWER + RELEVANT), (QUESTION, ANSWER + movie(1)))
    weighted = Settings(turn_weight="largest-pw", irrelevant="uniform")
    apart = seen(later, M002, paper_gold()).under(replace(weighted, patience_characters=100))
    longer = seen(later, M002, paper_gold()).under(weighted)
    (one,) = (each.value for each in default_figures(apart) if each.measure == "GF")
    (other,) = (each.value for each in default_figures(longer) if each.measure == "GF")
    assert one != other


def test_many_conversations_at_once_have_the_values_of_each_alone() -> None:
    told = [JAPANESE, ENGLISH, conversation((QUESTION, "OK")), conversation(("And?", f"映画です {RELEVANT}"))]
    for settings in (Settings(), Settings(user_words="left-out")):
        grounds = [replace(seen(one, M002, paper_gold()), settings=settings, base=settings) for one in told]
        columns = {column.measure: column for _, column in default_columns(grounds)}
        for name in ("R", "GFR(alpha=0.5)"):
            alone = [value(one, name, settings) for one in told]
            assert columns[name].value.tolist() == alone


def test_the_linear_weight_of_swan_counts_characters() -> None:
    items = nugget_items(JAPANESE, extract_nuggets(JAPANESE))
    assert [one.characters for one in items] == [True] * len(items)
    assert items[-1].position == POSITION
    assert turn_items(JAPANESE, ())[-1].position == POSITION
    assert turn_items(JAPANESE, (), user_words="left-out")[-1].position == POSITION - len(QUESTION)
    found = extract_nuggets(JAPANESE, user_words="left-out")
    assert nugget_items(JAPANESE, found)[-1].position == POSITION - len(QUESTION)
    told = Linear().weights(Places.from_items(items))
    assert told.tolist() == [1 - (one.position - 1) / 1000 for one in items]
    both = Places.from_items([*items, *nugget_items(ENGLISH, extract_nuggets(ENGLISH))])
    assert Linear(L=50, Lc=100).weights(both)[: len(items)].tolist() == [1 - (one.position - 1) / 100 for one in items]
    assert np.array_equal(Linear(L=50).weights(both)[len(items) :], Linear(L=50).weights(both[len(items) :]))


@pytest.mark.parametrize("text", ["linear(L=1250)", "linear(L=600, Lc=500)", "linear(L=1250, Lc=80)*last_turn"])
def test_a_weighting_with_both_limits_is_read_back(text: str) -> None:
    assert str(parse_weighting(text)) == text
    assert parse_weighting(text.replace(" ", "")) == parse_weighting(text)


@pytest.mark.parametrize("text", ["linear(Lc=0)", "linear(Lc=1.5)", "linear(L=1, L=2)", "linear(K=1)", "uniform(L=1)"])
def test_an_impossible_weighting_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a weighting"):
        parse_weighting(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("あ" * 500, 1.0), ("あ" * 1000, math.exp(-1)), ("word " * 250, 1.0), ("word " * 500, math.exp(-1)), ("あ", 1.0)],
)
def test_brevity_is_a_minute_of_reading_in_either_unit(text: str, wanted: float) -> None:
    talk = conversation(("And?", text))
    sight = TopicData().sight(talk, None, None)
    (verdict,) = brevity_rule().judge(replace(sight, items=turn_items(talk, sight.nuggets)))
    assert verdict.value == pytest.approx(wanted, rel=1e-12)


def test_padding_is_the_share_of_characters_said_twice() -> None:
    twice = "北口を出て右に曲がると小さな映画館があります。"
    talk = conversation(("And?", twice + twice + "今夜は次の作品です。"))
    sight = TopicData().sight(talk, None, None)
    (verdict,) = PADDING.judge(replace(sight, items=turn_items(talk, sight.nuggets)))
    assert verdict.value == 1 - 23 / 56
    assert verdict.because == "23 of 56 characters are pleasantries or said twice"


def test_an_assessment_measures_in_the_unit_of_the_settings() -> None:
    for unit, characters in (("words", False), ("by-script", True)):
        found = assess(JAPANESE, load_schema(SHIPPED), ground=TopicData(settings=Settings(unit=unit)))  # type: ignore
        assert {one.characters for each in found.items.values() for one in each} == {characters}
    both = [Settings(user_words=choice) for choice in ("counted", "left-out")]
    counted, alone = (assess(JAPANESE, load_schema(SHIPPED), ground=TopicData(settings=one)).items for one in both)
    moved = {
        one.position - other.position
        for name in counted
        for one, other in zip(counted[name], alone[name], strict=True)
        if one.speaker == "system"
    }
    assert moved == {len(QUESTION)}


@pytest.mark.parametrize(
    ("unit", "note"),
    [
        (
            "by-script",
            "s: positions and lengths count characters (L = 1000) in 1 of 2 conversations, whose answers have no "
            "blanks between words; in the others words (L = 1250).",
        ),
        (
            "words",
            "s: positions and lengths count words, as asked (L = 1250); in 1 of 2 conversations answers have no blanks "
            "between words.",
        ),
        ("characters", "s: positions and lengths count characters, as asked (L = 1000)."),
    ],
)
def test_the_counted_units_are_printed_below_the_figures(unit: str, note: str) -> None:
    def named(talk: object, trial: int) -> object:
        return replace(talk, key=replace(talk.key, system="s", trial=trial), trial_id=f"{trial}")  # type: ignore

    talks = [named(JAPANESE, 1), named(ENGLISH, 2)]
    rng = np.random.default_rng(1)
    table = score(talks, topic_set(M002), paper_gold(), Settings(unit=unit), rng)  # type: ignore
    assert [one for one in table.notes if "positions" in one] == [note]
    said = {row.trial: row.note for row in table.single("conversation") if row.measure == "R"}
    assert ("in characters, L = 1000" in said[1]) == (unit != "words")
    assert ("in characters" in said[2]) == (unit == "characters")
    bare = score(talks, topic_set(M002), None, Settings(unit=unit), rng)  # type: ignore
    assert not [one for one in bare.notes if "positions" in one]  # no figure counts lengths
