"""What a text may contain is said in words, with the text that was refused."""

from __future__ import annotations

from typing import Annotated

import pytest

from topics.document import StrictModel, form_validator, parse_document
from topics.errors import InputError
from topics.topic import ID_PATTERN, ID_WORDS


class Named(StrictModel):
    name: Annotated[str, form_validator(ID_PATTERN, ID_WORDS)]


def named(text: str) -> str:
    return parse_document(f"name: {text}\n", "file.yaml").validate_as(Named).name


def test_what_fits_is_taken_as_it_is() -> None:
    assert named("a.b-c_D+9") == "a.b-c_D+9"


@pytest.mark.parametrize("text", ["a b", "-a", "caf\u00e9", "'a\\n'"])
def test_what_does_not_fit_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputError) as refused:
        named(text)
    assert refused.value.what.startswith("name: has characters that are not allowed here (here: ")
    assert refused.value.allowed == "letters (a to z), digits and . _ + -, beginning with a letter or digit"
