"""Lower case that keeps every character in its place, so that what is found in it stands there in the text as well."""


def to_lower(text: str) -> str:
    """`text` in lower case, character by character: of all characters only İ would become two (it becomes i)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("İ", "i").lower()
