"""Token counts in replies, under the names of many APIs."""

from collections.abc import Mapping
from types import MappingProxyType

# Of OpenAI and Anthropic, Bedrock, Gemini and Ollama.
_COUNT_NAMES = {
    "prompt_tokens": "prompt",
    "input_tokens": "prompt",
    "inputTokens": "prompt",
    "promptTokenCount": "prompt",
    "prompt_eval_count": "prompt",
    "completion_tokens": "completion",
    "output_tokens": "completion",
    "outputTokens": "completion",
    "candidatesTokenCount": "completion",
    "eval_count": "completion",
    "total_tokens": "total",
    "totalTokens": "total",
    "totalTokenCount": "total",
    "thoughtsTokenCount": "reasoning",
    "cachedContentTokenCount": "cached",
    "cache_read_input_tokens": "cached",
}
_COUNT_DETAILS = {
    ("completion_tokens_details", "reasoning_tokens"): "reasoning",
    ("output_tokens_details", "reasoning_tokens"): "reasoning",
    ("prompt_tokens_details", "cached_tokens"): "cached",
    ("input_tokens_details", "cached_tokens"): "cached",
}


def count_tokens(usage: Mapping[str, object], *, others: bool = False) -> Mapping[str, int]:
    """Return the counts in a `usage` object by their common names (`prompt`, `completion`, `total`, …). With `others`,
    counts with unknown names are included under their own names."""
    found: dict[str, int] = {}
    for key in (*_COUNT_NAMES, *(usage if others else ())):
        _add_count(found, _COUNT_NAMES.get(key, key), usage.get(key))
    for (holder, key), name in _COUNT_DETAILS.items():
        details = usage.get(holder)
        if isinstance(details, Mapping):
            _add_count(found, name, details.get(key))
    return MappingProxyType(found)


def _add_count(found: dict[str, int], name: str, value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        found[name] = value
