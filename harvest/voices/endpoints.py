"""The endpoints of an audit by name, which give simulated users all text that a model writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from harvest.systems.driver import DriverError, Exhibit, Surroundings
from harvest.systems.toll import FREE, Toll
from protocols.protocol import Protocol
from topics.document import Document
from topics.errors import InputError, suggestion

if TYPE_CHECKING:  # brings httpx, which an audit without endpoints does not need
    from harvest.voices.endpoint import Endpoint
    from simulators.outside import Prompt, Sample, Taken

# The simulator that uses an endpoint, and its default endpoint.
_LLM_SIMULATOR = "llm"
_DEFAULT_ENDPOINT = "words"


class Endpoints:
    """A source of samples that sends each prompt to the endpoint named in the prompt."""

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        self._endpoints = endpoints

    async def sample(self, prompt: Prompt, toll: Toll = FREE) -> Sample:
        """Return a sample. `toll` is paid for each request. Raises EndpointError, CapReached, and InputError for an
        endpoint that the audit does not have."""
        return await self._by_name(prompt.source).sample(prompt, toll)

    def __bool__(self) -> bool:
        return bool(self._endpoints)

    def renewed(self) -> Endpoints:
        """Return endpoints with the same options, none of them closed."""
        return Endpoints({name: endpoint.renewed() for name, endpoint in self._endpoints.items()})

    def report_waits(self, tell: Callable[[str, str], object]) -> None:
        """Call `Endpoint.report_waits` for each endpoint."""
        for endpoint in self._endpoints.values():
            endpoint.report_waits(tell)

    def definition(self) -> dict[str, Any]:
        """Return the settings that determine each endpoint's text, without secrets and limits."""
        return {name: endpoint.definition() for name, endpoint in self._endpoints.items()}

    def check(self, protocol: Protocol) -> None:
        """Raise InputError if a simulated user of the protocol uses an endpoint that does not exist."""
        for name, user in protocol.users.items():
            for endpoint, _ in _wanted_endpoints({"simulator": user.simulator, **user.options}):
                try:
                    self._by_name(endpoint)
                except InputError as fault:
                    what = f"user {name!r} of protocol {protocol.name!r}: {fault.what}"
                    raise InputError(what, allowed=fault.allowed, advice=fault.advice) from None

    def count_most_requests(self, protocols: Iterable[Protocol], turns: int) -> dict[str, int]:
        """Return the largest number of requests to each endpoint in `turns` user turns of the protocols. All samples
        and their retries count. For each endpoint, only the user with the most requests counts, since only one user
        speaks at a time."""
        most: dict[str, int] = dict.fromkeys(self._endpoints, 0)
        for user in (user for protocol in protocols for user in protocol.users.values()):
            wanted: Counter[str] = Counter()
            for name, samples in _wanted_endpoints({"simulator": user.simulator, **user.options}):
                wanted[name] += samples * self._by_name(name).most_requests
            most = {name: max(n, wanted[name]) for name, n in most.items()}
        return {name: n * turns for name, n in most.items()}

    def _by_name(self, name: str) -> Endpoint:
        if name not in self._endpoints:
            hint = suggestion(name, self._endpoints)
            raise InputError(
                f"the endpoint {name!r} is not in the audit{hint}",
                allowed=", ".join(self._endpoints) or None,
                advice="add it to the audit: endpoints: {" + name + ": {base_url: …, model: …}}",
            )
        return self._endpoints[name]

    async def __aenter__(self) -> Endpoints:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio  # late: an audit that is only checked asks no endpoint

        await asyncio.gather(*(one.close() for one in self._endpoints.values()), return_exceptions=True)


def read_endpoints(
    document: Document, entries: Mapping[str, Mapping[str, Any]], surroundings: Surroundings
) -> Endpoints:
    """Read the `endpoints` of an audit file, without sending anything. Raises InputError, with its position in the
    file, for options that an endpoint does not accept and for a key that is not set."""
    if not entries:
        return Endpoints({})
    from harvest.voices.endpoint import Endpoint, EndpointOptions

    def made(name: str) -> Endpoint:
        options = replace(document.part(("endpoints", name)), value=dict(entries[name])).validate_as(EndpointOptions)
        with place_endpoint_errors(document, name):
            return Endpoint(name, options, surroundings)

    return Endpoints({name: made(name) for name in entries})


@contextmanager
def place_endpoint_errors(document: Document, name: str) -> Iterator[None]:
    """Add the position of the endpoint in the file to any InputError in the block without a position."""
    try:
        yield
    except InputError as fault:
        place = fault.place or document.place(("endpoints", name))
        raise InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice) from None


def _wanted_endpoints(options: object) -> Iterator[tuple[str, int]]:
    if isinstance(options, Mapping):
        if options.get("simulator") == _LLM_SIMULATOR:
            from simulators.llm.user import Options  # late: an audit without endpoints does not need it

            usual = Options.model_fields["samples"].default
            yield str(options.get("endpoint", _DEFAULT_ENDPOINT)), int(options.get("samples", usual))
        for value in options.values():
            yield from _wanted_endpoints(value)
    elif isinstance(options, (list, tuple)):
        for value in options:
            yield from _wanted_endpoints(value)


def wording_exhibits(taken: Taken) -> tuple[Exhibit, ...]:
    """Return the evidence of how models worded a user turn: all samples, accepted or refused, with their prompts. The
    evidence is one JSON array of {source, act, seed, messages, text, finish} in order, or no exhibit if no model
    was asked. Only the last sample can have been sent to the system. If an endpoint failed, its response is
    included."""
    from simulators.human import SOURCE  # late: not needed to check an audit

    value = [
        {
            "source": prompt.source,
            "act": prompt.act,
            "seed": prompt.seed,
            "messages": [{"role": message.role, "text": message.text} for message in prompt.messages],
            "text": sample.text,
            "finish": sample.finish,
        }
        for prompt, sample in taken
        if prompt.source != SOURCE  # a person's typed words are the whole turn
    ]
    if not value:
        return ()
    data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
    faults: list[object] = [sample.fault for _, sample in taken]
    failed = [one for fault in faults if isinstance(fault, DriverError) for one in fault.exhibits]
    return (Exhibit("wording", "application/json", data), *failed)
