"""Texts that must be written in one form: checked by a regular expression, explained in words."""

import re

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

# The kind of the error, which is pydantic's own name for it.
MISWRITTEN = "string_pattern_mismatch"


def written_form(expression: str, words: str) -> AfterValidator:
    """Text that `expression` matches from beginning to end. words: what it allows, for the message of an error."""
    compiled = re.compile(expression)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise PydanticCustomError(MISWRITTEN, "must be {pattern}", {"pattern": words})
        return text

    return AfterValidator(check)
