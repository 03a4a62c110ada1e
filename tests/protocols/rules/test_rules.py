"""The rules that look at what an answer gives: URLs, format, repetition, words."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from protocols.answer import Answer, Attachment, Exchange, Offer, Source, ToolCall
from protocols.rules.contains import Contains
from protocols.rules.echo import Echo
from protocols.rules.empty import Empty
from protocols.rules.format import Format, Urls
from protocols.rules.label_was import LabelWas
from protocols.rules.language import Language
from protocols.rules.list_items import ListItems
from protocols.rules.parts import Parts
from protocols.rules.refusal import Refusal
from protocols.rules.registry import All, Any, Not, Thoughts, encode_rule, read_rule
from protocols.rules.repetition import Repetition
from protocols.rules.rule import Rule, Sight, Verdict
from protocols.rules.words import Sentences, Words
from topics.document import parse_document
from topics.kinds import KINDS
from topics.links import Link
from topics.patterns import check_searchable
from topics.topic import Topic, TopicType

MOVIES = Topic("M002", TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"]), "Please list up movies.")
PLAIN = Topic("T1", TopicType("chat"), "Tell me about time travel.")
PRIMER = "https://www.imdb.com/title/tt0390384/"
LOOPER = "https://www.imdb.com/title/tt1276104/"
# GFRC Figure 5, G1 S2: the URL on a line of its own, and glued to the title.
BARD = f"Movie title IMDb URL\nPrimer (2004) {PRIMER}\nLooper (2012)\n{LOOPER}\nTenet (2020)https://www.imdb.com/title/tt6723592/"


def judged(rule: Rule, *texts: str | Answer, topic: Topic = MOVIES, labels: tuple[str, ...] = ()) -> Verdict:
    answers = [text if isinstance(text, Answer) else Answer(text) for text in texts]
    verdict = rule.judge(Sight(topic, tuple(Exchange("…", answer) for answer in answers), labels))
    for piece in verdict.evidence:
        assert piece.start == -1 or answers[-1].text[piece.start : piece.end] == piece.quote
    return verdict


def test_a_url_of_the_asked_kind_is_evidence_with_its_canonical_identity() -> None:
    verdict = judged(Urls(), "Primer: https://m.imdb.com/title/tt0390384/?ref_=fn_1.")
    assert verdict.holds
    (piece,) = verdict.evidence
    assert (piece.start, piece.quote) == (8, "https://m.imdb.com/title/tt0390384/?ref_=fn_1")
    assert piece.note == PRIMER


@pytest.mark.parametrize(
    "text",
    [
        "Primer",
        "https://www.imdb.com/",
        "https://www.imdb.com/name/nm1503403/",
        "https://imdb.com.example.org/title/tt0390384/",
        "https://example.org/www.imdb.com/title/tt0390384/",
    ],
)
def test_the_wrong_host_or_path_is_not_a_url_of_the_requested_kind(text: str) -> None:
    verdict = judged(Urls(), text)
    assert not verdict.holds
    assert verdict.evidence[-1].quote == "at least 1 URL(s) of the kind imdb-title"


def test_urls_are_counted_by_entity_not_by_mention() -> None:
    text = f"{PRIMER} https://m.imdb.com/title/tt0390384/ {LOOPER}"
    assert judged(Urls(at_least=2), text).holds
    assert not judged(Urls(at_least=3), text).holds
    assert [piece.note for piece in judged(Urls(at_least=2), text).evidence] == [PRIMER, f"again {PRIMER}", LOOPER]


def test_any_and_shipped_kinds_of_urls_can_be_asked_for() -> None:
    assert judged(Urls(kind="any"), "see https://example.org/x", topic=PLAIN).holds
    assert judged(Urls(kind="youtube-video"), "see https://youtu.be/dQw4w9WgXcQ", topic=PLAIN).holds
    assert not judged(Urls(kind="youtube-video"), f"see {PRIMER}", topic=PLAIN).holds
    with pytest.raises(ValidationError, match="unknown kind of URL; allowed: asked, any, imdb-title"):
        Urls(kind="imdb")


def test_a_link_behind_an_anchor_counts_and_its_evidence_is_the_anchor() -> None:
    answer = Answer("Watch Primer today.", (Link("Primer", PRIMER), Link("a picture", LOOPER)))
    verdict = judged(Urls(at_least=2), answer)
    assert verdict.holds
    assert [(piece.start, piece.quote) for piece in verdict.evidence] == [(6, "Primer"), (-1, LOOPER)]


@pytest.mark.parametrize(
    ("text", "title", "start"),
    [
        ("**Up**date: I list one film. Up is it.", "Up", 29),
        ("**Up**date: I list one film, upon request.", "Up", -1),
        ("Ups and Downs, then Up.", "Up", 20),
        ("映画は君の名は。です", "君の名は", 3),
        ("Die Sachertorte von Sacher.", "Sacher", 20),
        ("See C++ and C.", "C++", 4),
    ],
)
def test_an_anchor_is_found_as_whole_words(text: str, title: str, start: int) -> None:
    (piece,) = judged(Urls(), Answer(text, (Link(title, PRIMER),))).evidence
    assert piece.start == start


def test_the_position_that_the_system_gives_a_source_is_its_evidence() -> None:
    text = "Up is a film; so is Primer."
    answer = Answer.of(text, sources=(Source(PRIMER, "Up", 20, 26),))
    (piece,) = judged(Urls(), answer).evidence
    assert (piece.start, piece.quote) == (20, "Primer")
    assert piece.note.endswith("the source of these words")


def test_a_topic_without_a_url_kind_is_unfit_for_the_requested_kind() -> None:
    assert "asks for no URL" in (Urls().unfit(PLAIN) or "")
    assert Urls(kind="any").unfit(PLAIN) is None
    assert Urls().unfit(MOVIES) is None
    assert not judged(Urls(), PRIMER, topic=PLAIN).holds


def test_evidence_stays_small_when_an_answer_names_thousands_of_urls() -> None:
    text = "\n".join(f"https://www.imdb.com/title/tt{number:07}/" for number in range(2000))
    verdict = judged(Urls(at_least=2000), text)
    assert verdict.holds
    assert len(verdict.evidence) == 101
    assert verdict.evidence[-1].note == "1900 more pieces of evidence are not listed"


def test_lines_with_a_title_before_the_url_keep_the_format() -> None:
    verdict = judged(Format(at_least=2), BARD)
    assert verdict.holds
    assert [piece.quote for piece in verdict.evidence] == [BARD.splitlines()[1], BARD.splitlines()[4]]
    assert not judged(Format(at_least=3), BARD).holds
    broken = judged(Format(every=True), BARD)
    assert not broken.holds
    assert LOOPER in [piece.quote for piece in broken.evidence]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (f"Primer (2004): {PRIMER}", True),
        (f"1. **Primer** - {PRIMER}", True),
        (f"- [Primer]({PRIMER})", True),
        (f"| Primer | {PRIMER} |", True),
        (f"12 Monkeys: {PRIMER}", True),
        (f"12 {PRIMER}", True),
        (f"1. {PRIMER}", False),
        (f"- {PRIMER}", False),
        (f"{PRIMER} Primer", False),
        (f"<{PRIMER}>", False),
        ("Primer, IMDb", False),
    ],
)
def test_which_lines_keep_the_format(line: str, kept: bool) -> None:
    assert judged(Format(), line).holds is kept


def test_the_order_of_the_format_decides_on_which_side_words_must_be() -> None:
    swapped = Topic("M", TopicType("movie", "IMDb URL, movie title", KINDS["imdb-title"]), "…")
    assert judged(Format(), f"{PRIMER} Primer", topic=swapped).holds
    assert not judged(Format(), f"Primer {PRIMER}", topic=swapped).holds


def test_format_is_unfit_if_nothing_is_next_to_the_url() -> None:
    assert "needs a format" in (Format().unfit(PLAIN) or "")
    assert "needs a format" in (Format().unfit(Topic("M", TopicType("m", "IMDb URL", KINDS["imdb-title"]), "…")) or "")
    assert Format().unfit(MOVIES) is None


def test_the_same_text_again_is_a_repetition_regardless_of_case_and_white_space() -> None:
    verdict = judged(Repetition(), "You already said that.", "Something else", "you already\n said  that.")
    assert verdict.holds
    assert verdict.evidence[0].note == "the same text as the answer to turn 1"
    assert not judged(Repetition(), "The capital is Paris.", "The capital is not Paris.").holds
    assert not judged(Repetition(), "", "").holds
    assert not judged(Repetition(), "first answer").holds


def test_only_urls_already_given_are_a_repetition() -> None:
    first, again, more = f"Primer {PRIMER}", f"As I said: {PRIMER}?ref_=x", f"{PRIMER} and {LOOPER}"
    assert judged(Repetition(of="urls"), first, again).holds
    assert judged(Repetition(), first, again).evidence[0].note == "already given in turn 1"
    assert not judged(Repetition(of="text"), first, again).holds
    assert not judged(Repetition(), first, more).holds
    assert not judged(Repetition(of="urls"), first, "No URL here.").holds


def test_words_are_counted_like_in_the_measures() -> None:
    assert judged(Words(at_least=3), "one two\u3000three").holds
    assert not judged(Words(at_most=2), "one two three").holds
    assert judged(Words(at_most=0), " ").evidence[0].note == "0 words"
    for options in ({}, {"at_least": 3, "at_most": 2}):
        with pytest.raises(ValidationError):
            Words(**options)


def test_label_was_uses_an_earlier_turn() -> None:
    texts = ("a", "b", "c")
    assert judged(LabelWas(label="x"), *texts, labels=("o", "x")).holds
    assert judged(LabelWas(label="o", turn=1), *texts, labels=("o", "x")).holds
    assert not judged(LabelWas(label="o", turn=3), *texts, labels=("o", "x")).holds
    assert not judged(LabelWas(label="o"), "a").holds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("A haiku is a poem.", 1),
        ("Dr. Smith wrote 3.5 pages, e.g. see https://example.org/a.html.", 1),
        ("A haiku is a poem. It has three lines!", 2),
        ("俳句は詩です。三行です。", 2),
        ("Three things:\n- tea\n- rice\n- soy", 4),
        ("Wait... what?! Yes.", 2),
    ],
)
def test_sentences_are_counted_without_abbreviations_and_with_the_items_of_a_list(text: str, count: int) -> None:
    assert judged(Sentences(at_least=count, at_most=count), text).holds
    assert not judged(Sentences(at_least=count + 1), text).holds
    if count:
        assert not judged(Sentences(at_most=count - 1), text).holds


def test_impossible_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValidationError, match="give at_least, at_most, or both"):
        Sentences()
    with pytest.raises(ValidationError, match="at least 3 and at most 2 sentences"):
        Sentences(at_least=3, at_most=2)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("- tea\n- rice", 2),
        ("1. tea\n2) rice\n(3) soy", 3),
        ("Some:\n\n  • tea\n  •rice\n", 2),
        ("a) tea\r\nb) rice", 2),
        ("1、茶\n2、米", 2),
        ("tea, rice and soy", 0),
        ("-5 degrees\n3.5 percent\n*so* it is", 0),
        ("He said:\n- and left", 1),
        ("", 0),
    ],
)
def test_a_list_is_lines_that_begin_as_items_and_not_words_divided_by_commas(text: str, items: int) -> None:
    assert judged(ListItems(), text).holds == (items >= 2)
    if items:
        assert judged(ListItems(at_least=items), text).holds
    assert not judged(ListItems(at_least=items + 1), text).holds


def test_phrases_are_whole_words_with_any_white_space_and_apostrophe() -> None:
    rule = Contains(phrases=("can't find", "no results"))
    assert judged(rule, "I can’t\nfind it").evidence[0].quote == "can’t\nfind"
    assert not judged(rule, "I can't finder").holds
    assert judged(rule, "NO RESULTS").holds
    assert not judged(Contains(phrases=("no",), case=True), "No").holds
    assert judged(Contains(phrases=("申し訳",)), "大変申し訳ございません").holds


@pytest.mark.parametrize(
    ("phrase", "text", "quote"),
    [
        ("Lisbon", "It is _Lisbon_.", "Lisbon"),
        ("Lisbon", "___Lisbon___", "Lisbon"),
        ("São Paulo", "You live in **São** _Paulo_, I think.", "São** _Paulo"),
        ("Lisbon", "Ｌｉｓｂｏｎ だ", "Ｌｉｓｂｏｎ"),
        ("ガム", "ｶﾞﾑ です", "ｶﾞﾑ"),
        ("Ⅳ", "Part IV", "IV"),
        ("__init__", "call __init__ first", "__init__"),
    ],
)
def test_phrases_are_found_as_a_reader_sees_them(phrase: str, text: str, quote: str) -> None:
    (found,) = judged(Contains(phrases=(phrase,)), text).evidence
    assert (found.quote, text[found.start : found.end]) == (quote, quote)


@pytest.mark.parametrize("text", ["my_lisbon_house", "_Lisbonne_", "lisbon_2", "**Lis**boneta", "5 * Lis * bon"])
def test_marks_within_a_word_do_not_end_it(text: str) -> None:
    assert not judged(Contains(phrases=("Lisbon",)), text).holds


def test_a_refusal_with_emphasis_is_one() -> None:
    assert judged(Refusal(), "_I can't help with that._").holds
    assert judged(Refusal(), "I **cannot** help with _that_ request.").holds


def test_a_pattern_is_searched_for_in_a_limited_part_of_the_answer() -> None:
    rule = Contains(pattern=r"\b(?:19|20)\d{2}\b")
    assert judged(rule, "Primer (2004), Looper (2012)").evidence[1].quote == "2012"
    assert not judged(rule, "x " * 60_000 + "2004").holds
    assert "first 100000 of" in judged(rule, "x " * 60_000).evidence[0].note


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a+)+b", "without a limit"),
        (".*x", "without a limit"),
        ("a{3,}", "without a limit"),
        (r"(a)\1", "not allowed"),
        ("(?=a)b", "not allowed"),
        ("(?P<n>a)", "not allowed"),
        ("(?:a|aa){0,50}b", "a choice or repeat inside"),
        ("(?:a{0,9}){0,9}b", "a choice or repeat inside"),
        ("a{0,40}a{0,40}b", "1681 ways"),
        ("(?:(?:a{9}){9}){9}", "729 characters"),
        ("(a", "not a regular expression"),
        ("a" * 201, "longer than 200"),
        ("x{0}", "only the empty text"),
    ],
)
def test_a_pattern_that_could_run_away_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        check_searchable(pattern)


@pytest.mark.parametrize("pattern", [r"error \d{3}", "(?:yes|no) .{0,80}!", "[^]a-z]{1,5}", r"\bno (movies?|films?)\b"])
def test_a_bounded_pattern_is_accepted(pattern: str) -> None:
    assert check_searchable(pattern) == pattern


def test_a_systems_reasoning_is_seen_by_a_rule_that_asks_for_it_and_by_no_other() -> None:
    answer = Answer("None.", thoughts=f"It is {PRIMER}, which I must not name.")
    rule = Thoughts(Urls())
    assert not judged(Urls(), answer).holds
    verdict = judged(rule, answer)
    assert verdict.holds
    assert (verdict.evidence[0].start, verdict.evidence[0].quote) == (-1, PRIMER)
    assert verdict.evidence[0].note.startswith("in the thoughts: ")
    assert not judged(rule, Answer(f"It is {PRIMER}.")).holds
    assert judged(Thoughts(Contains(phrases=("must not",))), answer).holds
    assert judged(Thoughts(Empty()), Answer("Yes.")).holds
    assert rule.version == "thoughts(urls/1)"
    written = encode_rule(rule)
    document = parse_document("rule: {thoughts: {urls: {kind: asked, at_least: 1}}}", "p.yaml")
    assert read_rule(document, ("rule",), written, lambda name, loc: Empty()) == rule


OPEN_DAY = Answer(
    "On Monday.",
    sources=(Source("https://example.org/hours", "Opening hours"), Source("", "Leaflet 3")),
    calls=(ToolCall("search_web", '{"q": "hours"}'), ToolCall("search_web"), ToolCall("read_page")),
    offers=(Offer("Yes, please", "/yes"), Offer("Show the map", kind="button")),
    attachments=(Attachment("map.png", "image/png", 812),),
)


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (Parts(of="sources", at_least=2), ["https://example.org/hours", "Leaflet 3"]),
        (Parts(of="sources", like=("leaflet",)), ["Leaflet 3"]),
        (Parts(of="calls", at_least=2, like=("SEARCH",)), ["search_web", "search_web"]),
        (Parts(of="offers", like=("button",)), ["Show the map"]),
        (Parts(of="attachments", like=("image/", "audio/")), ["map.png"]),
    ],
)
def test_parts_sent_with_the_text_are_seen_by_their_kind_and_words(rule: Parts, shown: list[str]) -> None:
    verdict = judged(rule, OPEN_DAY)
    assert verdict.holds
    assert [piece.quote for piece in verdict.evidence] == shown


@pytest.mark.parametrize(
    ("rule", "missed"),
    [
        (Parts(of="calls", at_least=4), ("at least 4 tool calls", "3 came with the answer")),
        (Parts(of="attachments", like=("pdf",)), ("at least 1 attachments like pdf", "0 came with the answer")),
    ],
)
def test_parts_that_were_missed_are_counted(rule: Parts, missed: tuple[str, str]) -> None:
    verdict = judged(rule, OPEN_DAY)
    assert not verdict.holds
    assert (verdict.evidence[-1].quote, verdict.evidence[-1].note) == missed


def test_a_rule_about_parts_is_read_and_written_and_refuses_nonsense() -> None:
    written = {"parts": {"of": "calls", "at_least": 1, "like": ["search"]}}
    document = parse_document("{parts: {of: calls, like: [search]}}", "p.yaml")
    rule = read_rule(document, (), {"parts": {"of": "calls", "like": ("search",)}}, lambda *_: Empty())
    assert encode_rule(rule) == written
    with pytest.raises(ValidationError, match="contains an empty text"):
        Parts(of="calls", like=(" ",))
    with pytest.raises(ValidationError, match="'sources', 'calls', 'offers' or 'attachments'"):
        Parts(of="thoughts")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "beside", [{"attachments": (Attachment("a.png", "image/png"),)}, {"offers": (Offer("Yes"), Offer("No"))}]
)
def test_a_picture_or_a_choice_without_a_word_is_not_empty(beside: dict[str, tuple[Attachment | Offer, ...]]) -> None:
    assert judged(Empty(), Answer(" ")).holds
    assert not judged(Empty(), Answer(" ", **beside)).holds  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "Det kan jeg ikke hjælpe med.", f"No. See {PRIMER}"])
def test_an_answer_that_the_system_marks_as_a_refusal_is_a_refusal_in_any_language(text: str) -> None:
    assert judged(Refusal(), Answer(text, refused=True)).holds
    assert not judged(Refusal(), Answer(text)).holds


@pytest.mark.parametrize(
    ("rule", "said", "answered", "holds"),
    [
        (Language(one_of=("de", "nl")), "When?", "Am Montag öffnen wir um neun.", True),
        (Language(one_of=("en",)), "When?", "Am Montag öffnen wir um neun.", False),
        (Language(none_of=("asked",)), "When does the shop open on Monday?", "Am Montag öffnen wir um neun.", True),
        (Language(none_of=("asked",)), "Wann machen Sie am Montag auf?", "Am Montag öffnen wir um neun.", False),
        (Language(one_of=("asked",)), "次の映画を教えてください", "映画を三本挙げます。", True),
        # neither is told from so few words, so neither rule holds
        (Language(none_of=("asked",)), "Primer?", "Am Montag öffnen wir um neun.", False),
        (Language(none_of=("de",)), "When?", f"Primer: {PRIMER}", False),
        (Language(one_of=("en",)), "When?", "", False),
        (
            Language(one_of=("de",)),
            "When?",
            "```\nimport os  # and much more of this kind\n```\nDas geht so am besten.",
            True,
        ),
    ],
)
def test_a_rule_checks_the_language_of_an_answer_if_it_is_known(
    rule: Language, said: str, answered: str, holds: bool
) -> None:
    assert rule.judge(Sight(PLAIN, (Exchange(said, Answer(answered)),))).holds is holds


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValidationError, match="unknown language 'eng'"):
        Language(one_of=("eng",))
    with pytest.raises(ValidationError, match="give either `one_of` or `none_of`"):
        Language()


def test_composed_rules_follow_from_their_parts_and_show_their_evidence() -> None:
    useful, short = Urls(), Words(at_most=3)
    assert judged(Any((useful, short)), "one two").holds
    assert judged(All((useful, short)), f"Primer {PRIMER}").holds
    assert not judged(All((useful, short)), "one two").holds
    assert judged(Not(useful), "one two").holds
    assert len(judged(Any((useful, short)), "one two three four").evidence) == 2
    assert Any((useful, Not(Empty()))).version == "any(urls/1 not(empty/2))"
    assert All((useful, short)).needs == {"links"}
    assert "asks for no URL" in (Not(Any((short, useful))).unfit(PLAIN) or "")


@pytest.mark.parametrize(
    ("said", "answer", "echo"),
    [
        ("Which films are about robots?", "which films are about ROBOTS", True),
        ("Which films are about robots?", "You said: “Which films are about robots?”", True),
        ("Où est-ce que je peux la déposer ?", "Ou\u0300 est-ce que je peux la de\u0301poser", True),
        ("どの映画がロボットについてですか。", "どの映画がロボットについてですか", True),
        ("Which films are about robots?", "Which films are about robots? Wall-E.", False),
        ("Which films are about robots?", "Wall-E: which films are about robots?", True),
        ("Which films are about robots?", "The ones that I know best are these: which films are about robots?", False),
        ("The red one?", "The red one.", False),
        ("The red one?", "the red one?", True),
        ("The red one?", "Yes, the red one?", False),
        ("?", "…", False),
    ],
)
def test_an_answer_with_only_the_users_words_is_an_echo(said: str, answer: str, echo: bool) -> None:
    sight = Sight(PLAIN, (Exchange(said, Answer("Sure.")), Exchange("And now?", Answer(answer))))
    verdict = Echo().judge(sight)
    assert verdict.holds == echo
    assert verdict.evidence[0].note.endswith("turn 1" if echo else "compared")


def test_parts_sent_with_the_users_words_are_not_an_echo() -> None:
    answer = Answer("About robots", sources=(Source("Wall-E", "https://example.org/wall-e"),))
    assert not Echo().judge(Sight(PLAIN, (Exchange("About robots", answer),))).holds
