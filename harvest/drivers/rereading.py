"""Rereading of stored replies with the current code, which finds parts that older versions ignored. If a reply was not
stored, thoughts can still be separated from its recorded text."""

import json
from collections.abc import Mapping
from dataclasses import replace

from harvest.drivers.described_reply import DescribedReply
from harvest.drivers.event_stream import events_in
from harvest.drivers.http_options import Options as HttpOptions
from harvest.drivers.http_options import reply_description
from harvest.drivers.openai import Options as OpenAIOptions
from harvest.drivers.openai import empty_completion
from harvest.drivers.options import AS_RECORDED
from harvest.drivers.program_output import json_turn, text_turn
from harvest.drivers.received import Received
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import recipe_names
from harvest.drivers.websocket import Options as SocketOptions
from harvest.drivers.websocket import read_frames
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer
from protocols.thoughts import split_thoughts
from topics.links import find_links

# Exhibits with a reply, by driver; the first that exists is used.
_API_EXHIBITS = ("messages", "stream", "response")
_REPLY_EXHIBITS = {
    "command": ("stdout",),
    "http": _API_EXHIBITS,
    "openai": _API_EXHIBITS,
    "websocket": ("frames",),
}

# Drivers that keep only the text of a reply.
_TEXT_DRIVERS = frozenset({"python"})


def reply_exhibit(driver: str, evidence: Mapping[str, str]) -> str:
    """Return the name of the exhibit from which an answer can be reread, `text` if only the recorded text can be
    reread, or "" if nothing can be reread."""
    exhibits = _API_EXHIBITS if driver in recipe_names() else _REPLY_EXHIBITS.get(driver, ())
    name = next((one for one in exhibits if one in evidence), "")
    if name in _API_EXHIBITS and "headers" not in evidence:
        return ""
    return name or ("text" if driver in _TEXT_DRIVERS else "")


def read_reply(driver: str, options: Mapping[str, object], kept: bytes, head: bytes = b"") -> Answer:
    """Read the answer in a stored reply. `head` has the response headers of an API. Raises DriverError if `kept` is
    not a reply, and ValueError if headers or options are damaged."""
    if driver == "command":
        read = json_turn if options.get("mode") == "json" else text_turn
        return read(kept, Stopwatch(), thoughts_apart=options.get("thoughts_apart") is not False).answer
    given = json.dumps(options)
    if driver == "websocket":
        return read_frames(SocketOptions.model_validate_json(given, context=AS_RECORDED), kept).answer
    if driver in recipe_names():
        recipe = read_recipe(driver)
        described = recipe.driver_options(recipe.Options.model_validate_json(given, context=AS_RECORDED))
    else:
        model = HttpOptions if driver == "http" else OpenAIOptions
        described = model.model_validate_json(given, context=AS_RECORDED)
    if isinstance(described, HttpOptions) and described.poll is not None and described.poll.each is not None:
        reply = DescribedReply(reply_description(described), "messages")
        for line in filter(None, kept.split(b"\n")):
            reply.add_message(json.loads(line))
        return reply.turn(Stopwatch()).turn.answer
    declared = json.loads(head)
    headers = tuple((str(name), str(value)) for name, value in declared["headers"])
    received = Received("", int(declared["status"]), headers, kept, Stopwatch())
    if isinstance(described, HttpOptions):
        return reply_description(described).read(received).turn.answer
    completion = empty_completion(described)
    if received.media_type == "text/event-stream":
        for event in events_in(received.text(), received.media_type):
            if completion.read_event(event.name, event.data, received.watch):
                break
    if not completion.is_complete:
        completion.read(received)
    return completion.answer()[0]


def separate_thoughts(answer: Answer) -> Answer:
    """Return the answer with the thoughts at the beginning of its text moved to its part `thoughts`. Links that occur
    only in the thoughts are dropped."""
    thoughts, begin, end = split_thoughts(answer.text)
    if not begin or answer.thoughts:
        return answer
    own = {link.href for link in find_links(answer.text).links}
    beside = [link for link in answer.links if link.href not in own]
    text = answer.text[begin:end]
    now = Answer.of(text, beside, answer.with_text(text).sources)
    return replace(
        answer,
        text=now.text,
        links=now.links,
        links_left_out=now.links_left_out,
        sources=now.sources,
        thoughts=thoughts,
    )
