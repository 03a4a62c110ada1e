"""A parrot knows what it is told, and nothing else; everything it does follows from its seed and its turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from harvest.parrot.parrot import UNKNOWN, VARIANTS, Catalogue, Parrot, ParrotSession, load_catalogue
from harvest.parrot.profiles import PROFILES, Profile
from protocols.answer import Answer, Exchange
from topics.library import load_gold, load_topics
from topics.links import links_in
from topics.topic import Topic

MORE = "Can you name a few more?"
ADHERE = 'Adhere to the output format I specified: "Format: movie title, IMDb URL"'
BARE_THEN_LIST = Profile(
    "mending",
    "",
    first={"bare": 1.0},
    then={"bare": {"bare": 1.0}, "list": {"list": 1.0}},
    told={"bare": {"list": 1.0}},
)


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


@cache
def topics() -> tuple[Topic, ...]:
    return load_topics("fairweb-45").topics


def session(profile: str | Profile = "perfect", seed: int = 1) -> ParrotSession:
    return Parrot(catalogue(), PROFILES[profile] if isinstance(profile, str) else profile).session(seed)


def urls(answer: Answer) -> list[str]:
    return [link.href for link in answer.links]


def titles(answer: Answer) -> list[str]:
    return [line.split(",")[0] for line in answer.text.split("\n\n")[1].splitlines()]


def test_the_catalogue_contains_24_fictional_entities_of_three_words_for_each_of_the_45_topics() -> None:
    assert list(catalogue().shelves) == [topic.id for topic in topics()]
    for shelf in catalogue().shelves.values():
        assert Counter(entry.grade for entry in shelf.entries) == {2: 12, 1: 8, 0: 4}
        assert {len(entry.title.split()) for entry in shelf.entries} == {3}


def test_wrong_urls_are_of_the_requested_kind_and_belong_to_nobody() -> None:
    gold = load_gold("parrot", load_topics("fairweb-45"))
    known = {entry.entity for entry in gold}
    wrong = [(topic, entry.wrong_url) for topic in topics() for entry in catalogue().shelves[topic.id].entries]
    assert len({url for _, url in wrong}) == len(wrong) == len(gold)
    for topic, url in wrong:
        assert topic.type.url is not None
        assert topic.type.url.key(url) == url
        assert url not in known


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.id)
def test_a_request_is_found_in_the_user_s_words_regardless_of_white_space_and_case(topic: Topic) -> None:
    words = topic.request.split()
    broken = "Hello!\n" + "\n  ".join(words).upper() + "\nFormat: name, URL"
    for text in (topic.request, f"{topic.request}\nFormat: {topic.asks_for}", broken):
        shelf = catalogue().find(text)
        assert shelf is not None
        assert shelf.topic == topic.id


def test_an_entry_is_one_line_of_four_words_and_carries_its_link() -> None:
    answer = session().answer(topics()[0].request)
    opening, lines, closing = answer.text.split("\n\n")
    entries = {f"{entry.title}, {entry.url}" for entry in catalogue().shelves[topics()[0].id].entries}
    assert set(lines.splitlines()) < entries
    assert {len(line.split()) for line in lines.splitlines()} == {4}
    assert answer.links == links_in(answer.text)
    assert opening in VARIANTS["open-request"]
    assert closing in VARIANTS["close-list"]


def test_nothing_is_named_twice_in_a_conversation_and_the_shelf_runs_out_honestly() -> None:
    parrot = session()
    answers = [parrot.answer(topics()[3].request), *(parrot.answer(MORE) for _ in range(6))]
    named = [url for answer in answers for url in urls(answer)]
    assert [len(urls(answer)) for answer in answers] == [5, 5, 5, 5, 4, 0, 0]
    assert set(named) == {entry.url for entry in catalogue().shelves[topics()[3].id].entries}
    assert len(named) == 24
    assert answers[-1].text in VARIANTS["exhausted"]


def test_the_order_of_entities_is_uniform_over_the_shelf() -> None:
    # 4,800 first places over 24 entries: chi-square with 23 degrees of freedom; 49.7 is its 99.9% point.
    topic = topics()[20]
    firsts = Counter(urls(session(seed=seed).answer(topic.request))[0] for seed in range(4800))
    assert len(firsts) == 24
    assert sum((count - 200) ** 2 / 200 for count in firsts.values()) < 49.7


def test_told_to_adhere_it_repeats_the_earlier_titles_with_their_urls() -> None:
    parrot = session(BARE_THEN_LIST)
    bare, again, mended = parrot.answer(topics()[0].request), parrot.answer(MORE), parrot.answer(ADHERE)
    assert bare.links == again.links == ()
    assert "http" not in bare.text
    assert titles(bare) == titles(again) == titles(mended)
    assert len(urls(mended)) == 5


def test_follow_ups_refer_to_the_topic_so_far() -> None:
    parrot = session()
    for topic in (topics()[0], topics()[16], topics()[31]):
        shelf = {entry.url for entry in catalogue().shelves[topic.id].entries}
        for text in (topic.request, MORE, ADHERE, "Any others?"):
            assert set(urls(parrot.answer(text))) <= shelf


def test_a_parrot_admits_not_knowing_what_is_not_in_its_catalogue() -> None:
    parrot = session()
    assert parrot.answer(MORE).text == UNKNOWN  # no topic yet
    parrot.answer(topics()[0].request)
    assert parrot.answer("What is the capital of France?").text == UNKNOWN
    assert urls(parrot.answer(MORE))  # small talk does not end the topic
    assert parrot.answer("Please list up lighthouses in Norway.\nFormat: name, URL").text == UNKNOWN
    assert parrot.answer(MORE).text == UNKNOWN  # another request does


def test_wrong_urls_come_as_often_as_the_profile_says() -> None:
    shelf = catalogue().shelves[topics()[0].id]
    wrong = {entry.wrong_url for entry in shelf.entries}
    profile = replace(PROFILES["perfect"], wrong=0.75)
    listed = [url for seed in range(1000) for url in urls(session(profile, seed).answer(topics()[0].request))]
    count = sum(url in wrong for url in listed)
    assert len(listed) == 5000
    assert abs(count - 3750) < 4 * (5000 * 0.75 * 0.25) ** 0.5  # four standard deviations


def test_repeats_come_as_often_as_the_profile_says_and_never_first() -> None:
    profile = replace(PROFILES["perfect"], repeats=0.35)
    repeated = 0
    for seed in range(1000):
        listed = urls(session(profile, seed).answer(topics()[0].request))
        repeated += len(listed) - len(set(listed))
    assert abs(repeated - 1400) < 4 * (4000 * 0.35 * 0.65) ** 0.5  # four places in five can repeat


def test_the_same_seed_gives_the_same_words_and_another_seed_gives_others() -> None:
    def talk(seed: int) -> list[str]:
        parrot = session("erratic", seed)
        return [parrot.answer(text).text for text in (topics()[5].request, MORE, ADHERE, topics()[6].request, MORE)]

    assert talk(7) == talk(7)
    assert len({tuple(talk(seed)) for seed in range(20)}) == 20


def test_a_session_continues_from_a_history_as_from_its_own_past() -> None:
    profile = replace(PROFILES["perfect"], wrong=0.5)
    first = session(profile)
    history = [Exchange(text, first.answer(text)) for text in (topics()[8].request, MORE)]
    resumed = Parrot(catalogue(), profile).session(99, history)
    assert resumed.behaviour == first.behaviour == "list"
    before = {title for exchange in history for title in titles(exchange.answer)}
    after = [title for answer in (resumed.answer(MORE), resumed.answer(MORE)) for title in titles(answer)]
    assert len(set(after)) == 10
    assert not before & set(after)


@pytest.mark.parametrize("name", PROFILES)
def test_a_session_reads_its_own_behaviour_back_from_a_history(name: str) -> None:
    for seed in range(60):
        past = session(name, seed)
        history = []
        for text in (topics()[seed % 45].request, MORE, ADHERE):
            history.append(Exchange(text, past.answer(text)))
            assert Parrot(catalogue(), PROFILES[name]).session(0, history).behaviour == past.behaviour
