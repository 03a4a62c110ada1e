"""Validation of strings by a regular expression, with an explanation in words."""

import re

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

# The kind of the error: pydantic's own name for it.
MISWRITTEN = "string_pattern_mismatch"


def written_form(expression: str, words: str) -> AfterValidator:
    """Return a validator for strings that `expression` matches completely. `words` says in errors what it allows."""
    compiled = re.compile(expression)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise PydanticCustomError(MISWRITTEN, "must be {pattern}", {"pattern": words})
        return text

    return AfterValidator(check)
