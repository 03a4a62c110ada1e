"""Sources as APIs send them: an address, or an object with an address near its top.

"https://…"                                             citations of Perplexity and xAI
{"url", "title", "start_index", "end_index"}            annotations of Responses, search results
{"type": "url_citation", "url_citation": {…}}           annotations of chat completions
{"web": {"uri", "title"}}                               Gemini's grounding chunks
{"metadata": {"source"}}, {"source": {"name", "url"}}   documents of Flowise, LangChain and Open WebUI
{"file_id", "filename"}, {"document_title"}             a document without an address
{"type": "file", "file": {"name"}}, {"file_id"}         a document without an address (OpenRouter, assistants)
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from harvest.drivers.received import excerpt, join_surrogates
from protocols.answer import Answer, Source

# The note on a reply with something that may be an unknown kind of source.
OTHER_URLS = (
    "the body holds addresses that are no part of the answer: name their path in `links` if they are its sources"
)

# Keys of a body whose addresses are not sources but those of pictures, tools, faults or the API.
NO_SOURCES = frozenset(
    {"refusal", "tool_calls", "function_call", "images", "image_url", "audio", "file", "error"}
    | {"favicon", "icon", "thumbnail", "logo", "image", "_links", "$schema", "@context", "langgraph_api_url"}
)

_LONGEST_ADDRESS = 4096  # characters of an address
_DEEPEST_SOURCE = 4  # lists and objects around an address
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|www\.|/")
_HREF_KEYS = ("url", "href", "link", "uri")
_TITLE_KEYS = ("title", "text", "name", "document_title", "document_name", "filename", "file_name")
_ID_KEYS = ("file_id", "document_id")
_INNER_KEYS = (
    *("url_citation", "file_citation", "file_path", "container_file_citation", "file"),
    *("web", "source", "metadata", "document", "retrievedContext"),
)
_BEGIN_KEYS = ("start_index", "start", "start_char_index")
_END_KEYS = ("end_index", "end", "end_char_index")


def sources_in(value: object, offset: int = 0) -> Iterator[Source]:
    """Yield the sources in a value, which is one source or a list of sources. The positions in a source refer to a
    part of the text, and `offset` is the position of that part in the complete text."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, list):  # LiteLLM's citations are lists, one for each span
                yield from (found for one in item if (found := _read_source(one, offset)) is not None)
            elif (found := _read_source(item, offset)) is not None:
                yield found
    elif (one := _read_source(value, offset)) is not None:
        yield one


def urls_in(value: object, passed: frozenset[str], most: int = 50) -> list[str]:
    """Return at most `most` different URLs among the strings in a JSON value, without values of the keys `passed`."""
    found: dict[str, None] = {}
    waiting = [value]
    while waiting and len(found) < most:
        item = waiting.pop()
        if isinstance(item, str):
            if item[:4].lower() == "http" and re.fullmatch(r"[Hh][Tt][Tt][Pp][Ss]?://\S+", item[:_LONGEST_ADDRESS]):
                found[item[:_LONGEST_ADDRESS]] = None
        elif isinstance(item, Mapping):
            waiting += [inner for key, inner in item.items() if key not in passed]
        elif isinstance(item, list):
            waiting += item
    return list(found)


def may_contain_urls(written: str | bytes) -> bool:
    """Return whether this JSON text can contain URLs."""
    if isinstance(written, bytes):
        return b"://" in written or b":\\/" in written
    return "://" in written or ":\\/" in written


def has_other_urls(addresses: Iterable[str], answer: Answer) -> bool:
    """Return whether one of the addresses is missing from all parts of the answer."""
    known = {source.href for source in answer.sources}.union(link.href for link in answer.links)
    known |= {part.name for part in answer.attachments}.union(offer.value for offer in answer.offers)
    words = "\n".join((answer.text, answer.thoughts, *(call.arguments for call in answer.calls)))
    return any(address not in known and address not in words for address in addresses)


def _read_source(value: object, offset: int) -> Source | None:
    if isinstance(value, str):
        line = excerpt(join_surrogates(value), _LONGEST_ADDRESS)
        return Source(line, "") if _ADDRESS.match(line) else Source("", line) if line else None
    if not isinstance(value, Mapping):
        return None
    href, title, start, end = "", "", -1, -1
    identity = ""
    inner: object = value
    for _ in range(_DEEPEST_SOURCE):
        if isinstance(inner, str):
            if _ADDRESS.match(inner):
                href = href or inner
            elif not href:  # else it may be a kind, such as `web`
                title = title or inner
            break
        if not isinstance(inner, Mapping):
            break
        href = href or _first_string(inner, _HREF_KEYS)
        title = title or _first_string(inner, _TITLE_KEYS)
        identity = identity or _first_string(inner, _ID_KEYS)
        if start < 0:
            start, end = _read_span(inner, offset)
        inner = next((inner[key] for key in _INNER_KEYS if isinstance(inner.get(key), (Mapping, str))), None)
    title = title or ("" if href else identity)
    href, title = (
        excerpt(join_surrogates(href), _LONGEST_ADDRESS),
        excerpt(join_surrogates(title), _LONGEST_ADDRESS),
    )
    return Source(href, title if title != href else "", start, end) if href or title else None


def _first_string(holder: Mapping[str, object], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if isinstance(found := holder.get(key), str) and found.strip()), "")


def _read_span(holder: Mapping[str, object], offset: int) -> tuple[int, int]:
    found = []
    for keys in (_BEGIN_KEYS, _END_KEYS):
        values = (holder.get(key) for key in keys)
        found.append(next((one for one in values if isinstance(one, int) and not isinstance(one, bool)), -1))
    start, end = found
    return (start + offset, end + offset) if 0 <= start < end else (-1, -1)
