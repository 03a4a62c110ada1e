"""Texts that must have one form, checked by a regular expression and explained in words."""

import re

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

# The kind of the error: pydantic's own name for it.
MISWRITTEN = "string_pattern_mismatch"


def written_form(expression: str, words: str) -> AfterValidator:
    """Return a validator for text that `expression` matches completely. words: what it allows, for errors."""
    compiled = re.compile(expression)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise PydanticCustomError(MISWRITTEN, "must be {pattern}", {"pattern": words})
        return text

    return AfterValidator(check)
