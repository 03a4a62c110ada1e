"""Gemini's sources stand at the words that they support, whatever these are written in, and however they come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.completions import Completion
from harvest.drivers.parts import Parts
from harvest.drivers.received import Received
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer

WORDS = st.text(st.sampled_from("ab é語🙂\n*"), min_size=1, max_size=12)


def chunk(number: int) -> dict[str, object]:
    return {"web": {"uri": f"https://s{number}.example/", "title": f"S{number}"}}


def bytes_of(text: str) -> int:
    return len(text.encode())


def supported(part: int, before: str, words: str, chunks: list[int], *, told: bool = True) -> dict[str, object]:
    """A support as Google sends it: zeros are left out."""
    begin = bytes_of(before)
    segment: dict[str, object] = {"endIndex": begin + bytes_of(words)}
    segment |= {"partIndex": part} if part else {}
    segment |= {"startIndex": begin} if begin else {}
    segment |= {"text": words} if told else {}
    return {"segment": segment, "groundingChunkIndices": chunks}


def spans(answer: Answer) -> set[tuple[str, str]]:
    return {
        (source.href, answer.text[source.start : source.end] if source.start >= 0 else "") for source in answer.sources
    }


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.booleans())
def test_each_part_counts_its_own_bytes(parts: list[tuple[str, str, str]], told: bool) -> None:
    collected = Parts()
    collected.add_content([{"text": "hm", "thought": True}, *({"text": "".join(part)} for part in parts)])
    supports = [
        supported(number, before, words, [number], told=told) for number, (before, words, _) in enumerate(parts, 1)
    ]
    collected.add_sources({"groundingChunks": [chunk(n) for n in range(len(parts) + 1)], "groundingSupports": supports})
    answer, _ = collected.answer(thoughts_apart=False)
    expected = {(f"https://s{n}.example/", words) for n, (_, words, _) in enumerate(parts, 1)}
    assert spans(answer) == expected | {("https://s0.example/", "")}


@given(WORDS, WORDS, WORDS, st.integers(0, 12))
def test_a_stream_counts_the_bytes_of_all_its_pieces(before: str, words: str, after: str, cut: int) -> None:
    collected, text = Parts(streamed=True), before + words + after
    collected.add_content([{"text": text[:cut]}, {"text": text[cut:]}])
    metadata = {"groundingChunks": [chunk(1)], "groundingSupports": [supported(0, before, words, [0])]}
    for _ in range(2):  # some streams send them twice
        collected.add_sources(metadata)
    answer, _ = collected.answer(thoughts_apart=False)
    assert [(source.start, source.end) for source in answer.sources] == [(len(before), len(before + words))]


def test_misplaced_words_are_found_only_if_they_occur_once() -> None:
    collected = Parts()
    collected.add_text("Mühle am Fluss, Mühle im Wald.")
    supports = [supported(0, "x" * 3, "im Wald", [0]), supported(0, "x" * 3, "Mühle", [1])]
    collected.add_sources({"groundingChunks": [chunk(0), chunk(1)], "groundingSupports": supports})
    answer, _ = collected.answer()
    assert spans(answer) == {("https://s0.example/", "im Wald"), ("https://s1.example/", "")}


@pytest.mark.parametrize(
    "support",
    [
        None,
        [],
        {"segment": "words", "groundingChunkIndices": [0]},
        {"segment": {"startIndex": -1, "endIndex": 4}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": "1", "endIndex": 4}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 3, "endIndex": 3}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 1, "endIndex": 5000}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 2, "endIndex": 4}, "groundingChunkIndices": [0]},  # amid the ü
        {"segment": {"partIndex": 7, "startIndex": 1, "endIndex": 900}, "groundingChunkIndices": [0]},
        {"segment": {"startIndex": 0, "endIndex": 1}, "groundingChunkIndices": [True, "0", 9, None]},
        {"segment": {"startIndex": 0, "endIndex": 1}, "groundingChunkIndices": 0},
    ],
)
def test_supports_of_another_shape_leave_the_source_without_a_place(support: object) -> None:
    collected = Parts()
    collected.add_text("Mühle")
    collected.add_sources({"groundingChunks": [chunk(0)], "groundingSupports": [support]})
    answer, notes = collected.answer()
    assert spans(answer) == {("https://s0.example/", "")}
    assert not notes


def test_a_chunk_of_an_unknown_shape_is_noted() -> None:
    collected = Parts()
    collected.add_text("Mill")
    collected.add_sources([{"groundingChunks": [{"maps": {"placeId": 1}}, chunk(1)]}])
    answer, notes = collected.answer()
    assert spans(answer) == {("https://s1.example/", "")}
    assert "source" in notes[0]


def test_litellm_counts_bytes_in_its_annotations_and_is_corrected() -> None:
    """As LiteLLM 1.x answers for Vertex AI: annotations with the positions of the segments, and the metadata."""
    text, before, words = "Größe: die Mühle mahlt.", "Größe: die ", "Mühle"
    begin = bytes_of(before)
    cited = {"start_index": begin, "end_index": begin + bytes_of(words), "url": "https://s0.example/", "title": "S0"}
    message = {
        "role": "assistant",
        "content": text,
        "annotations": [{"type": "url_citation", "url_citation": cited}, "https://other.example/"],
    }
    metadata = {"groundingChunks": [chunk(0)], "groundingSupports": [supported(0, before, words, [0])]}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "vertex_ai_grounding_metadata": [metadata],
    }
    completion = Completion()
    completion.read(Received("", 200, (), json.dumps(body).encode(), Stopwatch()))
    answer, notes = completion.answer()
    assert spans(answer) == {("https://s0.example/", words), ("https://other.example/", "")}
    assert not notes
