"""Blind pairs on the page, side by side. The decisions are stored in a folder next to the sheet."""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from harvest.judging.serving.page_words import ENGLISH, Words
from harvest.judging.serving.questions import Question
from harvest.judging.sheets.pair_sheet import CHOICES, UNCHECKED, BlindPair, PairRows, Preference, text_hash, transcript
from recordings.files.errors import RunError
from recordings.judged.decisions import FOLDER
from recordings.judged.judgments import read_layers
from topics.errors import InputError, Place
from topics.identity import content_hash

_CRITERION = "preference"


def decision_folder(sheet: Path) -> Path:
    """Return the folder with the decisions on the pairs of a sheet."""
    return sheet.with_suffix(".judged")


def pair_questions(pairs: Iterable[BlindPair], words: Words = ENGLISH.words) -> tuple[Question, ...]:
    """Return one question for each pair, with the pair's number and a hash of its texts, but without a system."""
    found = []
    for one in pairs:
        text = text_hash(transcript(one.left), transcript(one.right))
        found.append(
            Question(
                content_hash("harvest-asked", [_CRITERION, one.number, text], size=8),
                _CRITERION,
                words.pair_question,
                ({"pair": one.number, "text": text},),
                one.topic,
                (one.left, one.right),
                titles=(words.left_title, words.right_title),
            )
        )
    return tuple(found)


def read_decided_pairs(folder: str | PathLike[str], texts: Mapping[int, str]) -> PairRows:
    """Read the decisions made on the page. `texts` maps the number of each pair that was handed out to its
    `text_hash`. Raises InputError if there are no decisions, and for a pair that was not handed out or had other
    texts."""
    if not any((Path(folder) / name).is_dir() for name in (FOLDER, "judgments")):
        raise InputError(
            "this folder contains no decisions on pairs",
            place=Place.of(folder),
            allowed="a folder that harvest judge pairs RUN --out FILE --serve or harvest judge model wrote, or a sheet",
        )
    found: dict[tuple[int, str], str] = {}
    for layer in read_layers(folder):
        author = layer.author if layer.kind == "human" else f"{layer.author} {UNCHECKED}"
        for judgment in layer.judgments:
            if judgment.unjudged:
                continue
            match judgment.about:
                case {"pair": int(number), "text": str(text)} if texts.get(number) == text:
                    pass
                case _:
                    raise InputError(
                        f"{layer.author} judged a pair that is not in the key",
                        place=Place.of(folder),
                        advice="give the --key that was written with these pairs",
                    )
            if judgment.criterion != _CRITERION or judgment.value not in CHOICES:
                raise RunError(f"the decision {str(judgment.value)[:40]!r} is not a choice", place=Place.of(folder))
            found[number, author] = str(judgment.value)
    if not found:
        raise InputError("this folder contains no decisions yet", place=Place.of(folder))
    return PairRows(tuple(Preference(number, who, choice) for (number, who), choice in found.items()), 0)
