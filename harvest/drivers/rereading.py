"""Reading the kept reply of an API again with today's code: what older Harvests passed over is in the evidence."""

import json
from collections.abc import Mapping

from harvest.drivers.completions import Completion
from harvest.drivers.event_stream import events_in
from harvest.drivers.http import Options as HttpOptions
from harvest.drivers.http import description
from harvest.drivers.openai import Options as OpenAIOptions
from harvest.drivers.openai import completion_of
from harvest.drivers.received import Received
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer

READ = frozenset({"http", "openai"})
"""Drivers whose replies can be read again."""


def read_reply(driver: str, options: Mapping[str, object], head: bytes, body: bytes) -> Answer:
    """The answer in a reply's headers and body, as the driver keeps them. Raises DriverError where it is none, and
    ValueError where headers or options are damaged."""
    declared = json.loads(head)
    headers = tuple((str(name), str(value)) for name, value in declared["headers"])
    received = Received("", int(declared["status"]), headers, body, Stopwatch())
    given = json.dumps(options)
    if driver == "http":
        return description(HttpOptions.model_validate_json(given)).read(received).turn.answer
    completion = completion_of(OpenAIOptions.model_validate_json(given))
    if received.media_type == "text/event-stream":
        _feed(completion, received)
    if not completion.whole:
        completion.read(received)
    return completion.answer()[0]


def _feed(completion: Completion, received: Received) -> None:
    for event in events_in(received.text(), received.media_type):
        completion.take(event.name, event.data, received.watch)
    if b"[DONE]" in received.body:
        completion.take("", "[DONE]", received.watch)
