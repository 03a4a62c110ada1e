"""The names systems use for the end of a reply, and what they mean for the answer."""

import re
from collections.abc import Mapping
from types import MappingProxyType

# Words of OpenAI's, Anthropic's, Google's, Mistral's, Cohere's, Amazon's, IBM's and Hugging Face's interfaces, and of
# servers that speak like one of them, as `_plain` writes them.
_WORDS = {
    "whole": (
        *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed", "tool_calls", "tool_use"),
    ),
    "cut": (
        *("length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens", "max_length"),
        *("model_length", "token_limit", "length_limit", "max_token", "limit", "truncated", "incomplete"),
        *("model_context_window_exceeded", "context_length_exceeded", "context_window_exceeded", "context_length"),
        *("time_limit", "insufficient_system_resource", "error_limit"),
    ),
    "filtered": (
        *("content_filter", "content_filtered", "filtered", "filter", "safety", "image_safety", "recitation"),
        *("blocklist", "prohibited_content", "spii", "sensitive", "guardrail_intervened", "guardrail", "guardrails"),
        *("moderation", "blocked", "error_toxic"),
    ),
    "refused": ("refusal", "refused"),
}
_MEANING: Mapping[str, str] = MappingProxyType({word: meaning for meaning, words in _WORDS.items() for word in words})


def ending_of(finish: str) -> str:
    """Return `whole`, `cut` by the system's own limit, `filtered` or `refused`; "" for an unknown name."""
    # Normalise the word: `FinishReason.MAX_TOKENS` and `max-tokens` are `max_tokens`.
    last = finish.rpartition(".")[2].strip()
    return _MEANING.get(re.sub(r"(?<=[a-z])(?=[A-Z])|[\s-]+", "_", last).lower(), "")
