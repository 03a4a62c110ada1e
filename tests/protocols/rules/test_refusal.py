"""Refusals, error messages and empty answers: what is recognised, and what only looks like it."""

from __future__ import annotations

import pytest

from protocols.answer import Answer, Exchange
from protocols.rules.empty import Empty
from protocols.rules.error_page import ErrorPage
from protocols.rules.refusal import Refusal
from protocols.rules.rule import Rule, Sight, Verdict
from topics.kinds import KINDS
from topics.links import Link
from topics.topic import Topic, TopicType

MOVIES = Topic("M002", TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"]), "Please list up movies.")


def judged(rule: Rule, text: str, *links: Link) -> Verdict:
    verdict = rule.judge(Sight(MOVIES, (Exchange("…", Answer(text, links)),)))
    for piece in verdict.evidence:
        assert piece.start == -1 or text[piece.start : piece.end] == piece.quote
    assert verdict.evidence, "a verdict always says why"
    return verdict


PAPER_REFUSALS = {
    "GFRC §4.1": "I'm a text-based AI, and that is outside of my capabilities.",
    "GFRC §5, M001 G1 S1": (
        "I'm unable to help you with that, as I'm only a language model and don't have the necessary information or "
        "abilities."
    ),
    "GFRC §5, curly": (
        "I’m unable to help you with that, as I’m only a language model and don’t have the necessary information or "
        "abilities."
    ),
}


@pytest.mark.parametrize("where", PAPER_REFUSALS)
def test_the_refusals_printed_in_the_paper_are_refusals(where: str) -> None:
    verdict = judged(Refusal(), PAPER_REFUSALS[where])
    assert verdict.holds
    assert verdict.evidence[0].quote == PAPER_REFUSALS[where].rstrip(".")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but I can't help with that",
        "I cannot assist you with this request.",
        "I can not help with that, sorry.",
        "As an AI language model, I cannot provide that information.",
        "As an AI language model, I don't have access to IMDb and cannot list movies. You can search IMDb yourself.",
        "As a large language model I am not able to browse the internet.",
        "I'm just a language model, so I can't help you with that.",
        "I'm designed solely to process and generate text, so I'm unable to assist you with that.",
        "I'm not programmed to assist with that.",
        "That's not something I'm able to do yet.",
        "This request is beyond my capabilities.",
        "Sorry, I can't assist with that request.",
        "Unfortunately, I am unable to provide a list of researchers.",
        "I apologize, but I cannot fulfill this request.",
        "I'm sorry but I prefer not to continue this conversation.",
        "I do not have enough information about that person to help with your request.",
        "I'm sorry, I can't do that. However, I can help you with other topics.",
        "I'm sorry, but I cannot recommend specific researchers.",
        "I'm really sorry, but I just can't help with that.",
        "I'm still learning and can't help with that. Do you need help with anything else?",
        "申し訳ございませんが、その質問にはお答えできません。",
        "申し訳ありません。私は言語モデルのため、そのご要望にはお応えできません。",
        "すみません、お手伝いできません。",
        "私は言語モデルとして設計されているため、お手伝いすることができません。",
        "テキストベースの AI であるため、それは私の能力の範囲外です。",
        "申し訳ございません。",
    ],
)
def test_an_answer_that_is_only_a_refusal_is_one(text: str) -> None:
    assert judged(Refusal(), text).holds


@pytest.mark.parametrize(
    "text",
    [
        "You can't miss Primer (2004), a film about time travel.",
        "I can't recommend this film enough: Primer.",
        "I can't recommend this film highly enough!",
        "I cannot give Primer enough praise.",
        "I can't help but love Primer.",
        "I can't wait to share these films with you: Primer, Looper, Tenet.",
        "I cannot list them all. Some of the best are Primer, Looper and Tenet.",
        "I'm sorry for the confusion. Here are the films in the format you asked for.",
        "I can't access IMDb, but here are some films: Primer, Looper and Tenet.",
        "I can't access IMDb. However, here are some films: Primer, Looper and Tenet.",
        "I can't share a full list, but I can name Primer, Looper and Tenet.",
        "As an AI language model, I recommend these films: Primer, Looper, Tenet.",
        "As an AI, I don't watch films, but I'd suggest Primer.",
        "I can't provide links.\n1. Primer\n2. Looper\n3. Tenet",
        "I can't provide everything. Primer: https://www.imdb.com/title/tt0390384/",
        '"I can\'t help you," says the hero of Primer, a film you will like.',
        'In Primer the engineer says: "I can\'t do that."',
        "If I can't do this, who can? That is the theme of Primer.",
        "The engineer can't help the others in Looper, a film of 2012.",
        "My capabilities are limited, yet Primer and Looper feature time travel.",
        "I can't help with that. " + "But let us go on at length. " * 100,
        "すみません、お待たせしました。こちらがリストです。Primer、Looper",
        "以下の映画をお勧めします。忘れることができない作品です。Primer",
        "このプロットは説明できないほど面白いです。Primer",
        "",
    ],
)
def test_an_answer_that_delivers_or_only_sounds_like_it_is_not_a_refusal(text: str) -> None:
    assert not judged(Refusal(), text).holds


def test_the_evidence_of_a_refusal_is_the_sentence_that_refuses() -> None:
    text = "Thank you for asking!\n  I’m sorry, but I can’t help with that. Ask me something else."
    piece = judged(Refusal(), text).evidence[0]
    assert (piece.start, piece.quote) == (24, "I’m sorry, but I can’t help with that")


def test_a_link_to_the_requested_item_makes_a_refusal_an_answer() -> None:
    text = "I can't provide more than this: Primer"
    assert judged(Refusal(), text).holds
    assert not judged(Refusal(), text, Link("Primer", "https://www.imdb.com/title/tt0390384/")).holds


@pytest.mark.parametrize(
    "text",
    [
        "502 Bad Gateway",
        "HTTP/1.1 502 Bad Gateway",
        "504 Gateway Time-out",
        "503 Service Temporarily Unavailable",
        "Internal Server Error",
        "Error 429: Too Many Requests",
        "Error code: 500",
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center>",
        "<!DOCTYPE html><html lang='en'><head><title>Just a moment...</title></head>",
        "Something went wrong. Please try again",
        "Oops! Something went wrong.",
        "Hmm...something seems to have gone wrong.",
        "**Error:** An unexpected error occurred",
        "An error occurred while processing your request.",
        "There was an error generating a response",
        "Network error",
        "The server is overloaded or not ready yet.",
        "We're currently experiencing high demand.",
        "Please try again later.",
        "Rate limit exceeded.",
        "Too many requests in 1 hour. Try again later.",
        "You’ve reached the current usage cap for this model.",
        "You've reached your message limit. Try again in 3 hours.",
        "You are being rate limited.",
        '{"error": {"message": "overloaded", "type": "server_error"}}',
        ' {"errors": ["bad request"]}\n',
        '{"status": 503, "title": "Service Unavailable"}',
    ],
)
def test_the_text_of_an_error_is_an_error_page(text: str) -> None:
    assert judged(ErrorPage(), text).holds


@pytest.mark.parametrize(
    "text",
    [
        "Error 404 (2011): https://www.imdb.com/title/tt1714203/",
        "404: Error Not Found (2011)",
        "404 Not Found https://www.imdb.com/title/tt1714203/",
        "1. Error 404 (2011)\n2. Primer (2004)",
        "Error 404\nPrimer\nLooper",
        "Gone\nConflict\nForbidden",
        "500 Days of Summer (2009)",
        "Something went wrong in the lab: that is the plot of Primer.",
        "The server is unavailable in the film until he comes.",
        "An error occurred to the crew, and so begins Primer.",
        "<html><head><title>Films about time travel</title></head>",
        '{"movies": ["Primer"], "error": null}',
        '{"status": 200, "title": "Primer"}',
        '{"title": "Error", "year": 404}',
        '["error"]',
        '{"error": ',
        '{"a":' * 5000 + "1" + "}" * 5000,
        "",
    ],
)
def test_an_answer_that_only_names_errors_is_not_an_error_page(text: str) -> None:
    assert not judged(ErrorPage(), text).holds


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u200d\ufeff", "\u00ad\u2800\u3164", "\x00\x1f", "\ufe0f"])
def test_an_answer_without_a_visible_character_is_empty(text: str) -> None:
    assert judged(Empty(), text).holds


@pytest.mark.parametrize("text", [".", "\u200b0", "-", "🙏", "\u200d\u0301"])
def test_one_visible_character_is_an_answer(text: str) -> None:
    assert not judged(Empty(), text).holds


def test_an_answer_that_shows_only_a_link_is_not_empty() -> None:
    assert not judged(Empty(), "", Link("", "https://www.imdb.com/title/tt0390384/")).holds
