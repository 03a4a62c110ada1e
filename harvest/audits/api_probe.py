"""Which API does a URL have? The URL itself may show which, or the answers to read-only requests.

A candidate is a driver with the options that are known. `try_candidate` sends one user turn by it.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from harvest.drivers.look import Look
from harvest.drivers.options import WireOptions
from harvest.drivers.registry import build_driver, driver_module, probed_drivers
from harvest.drivers.reply_path import ReplyPath, first_found
from harvest.drivers.wire import Request, Wire
from harvest.systems.delivery import convert_unexpected
from harvest.systems.driver import DriverError, Opening, Reply, Surroundings
from harvest.systems.exposure import Exposure, is_this_machine

_LOOK_SECONDS = 10.0
_WHO = "the probed system"
# With these reasons, no other request would be answered either.
_UNREACHABLE = frozenset({"connect", "dns", "proxy", "tls"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A driver that may fit, with the known options and the reason. `missing` are required options for which `options`
    has only an example."""

    driver: str
    options: Mapping[str, Any]
    why: str
    missing: tuple[str, ...] = ()

    def system(self) -> str:
        """The system as an entry of an audit."""
        lines = ["  - name: mine", f"    driver: {self.driver}", "    options:"]
        for name, value in self.options.items():
            known = "  # an example: replace it" if name in self.missing else ""
            lines.append(f"      {name}: {json.dumps(value, ensure_ascii=False)}{known}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Probe:
    """What is probed. `url` is the address. `key_env` is the environment variable with the key, or None. `given` has
    the options that are already known. `seconds` is the longest time for a turn."""

    url: str
    key_env: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 60.0

    def candidate(self, driver: str, options: Mapping[str, Any], why: str) -> Candidate:
        """Return the driver as a candidate with `options`, the given options, and the key."""
        fields = driver_module(driver).Options.model_fields
        known: dict[str, Any] = {**options, **{name: one for name, one in self.given.items() if name in fields}}
        key = _key_option(driver)
        if key is not None and key not in known and (self.key_env or fields[key].default is not None):
            known[key] = self.key_env
        required = [name for name, one in fields.items() if one.is_required()]
        missing = tuple(name for name in required if name not in known)
        order = [*required, *known]
        samples = {name: _sample(driver, name) for name in missing}
        return Candidate(driver, {name: {**known, **samples}[name] for name in dict.fromkeys(order)}, why, missing)

    def exposure(self, candidate: Candidate) -> Exposure:
        """Return the exposure of a turn by this candidate: its server, variables and code."""
        module = driver_module(candidate.driver)
        options = module.Options.model_validate(dict(candidate.options))
        further = getattr(module, "further", lambda options, folder: ())(options, Path())
        return Exposure.from_options(_WHO, options, *further)


def candidates_by_url(probe: Probe) -> list[Candidate]:
    """Return the drivers whose API the URL names: by its form, or by the vendor's host. APIs that others than the
    vendor serve, too, come first."""
    found = []
    for driver in probed_drivers():
        module, host = driver_module(driver), urlsplit(probe.url).hostname or ""
        look, default = module.LOOK, _default_base(driver)
        options = _match_address(module.address, probe.url)
        if options is not None:
            found.append((look.path is None, probe.candidate(driver, options, "the URL has the form of this API")))
        elif is_this_machine(host):
            continue
        elif host == urlsplit(default).hostname or (look.host is not None and re.fullmatch(look.host, host)):
            bare = host == urlsplit(default).hostname and not urlsplit(probe.url).path.strip("/")
            base = default if bare else probe.url
            found.append((False, probe.candidate(driver, {"base_url": base}, f"{host} is a host of this API's vendor")))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


async def candidates_by_look(
    probe: Probe, surroundings: Surroundings, show: Callable[[str], object]
) -> list[Candidate]:
    """Ask the server by requests that only read, and return the drivers that fit the answers. `show` is called with
    a line for each address before it is asked. Raises DriverError if the server cannot be reached."""
    found: list[Candidate] = []
    asked: dict[tuple[str, str], object] = {}
    for driver in probed_drivers():
        look: Look = driver_module(driver).LOOK
        if look.path is None:
            continue
        for base in _bases(driver, probe.url):
            candidate = probe.candidate(driver, {"base_url": base}, "")
            headers = _headers(driver, candidate)
            key = (base + look.path, repr(headers))
            if key not in asked:
                if key[0] not in (url for url, _ in asked):  # drivers may ask with different headers
                    show(f"looks at {key[0]}")
                status, asked[key] = await _get(key[0], headers, surroundings)
                if status in (401, 403):
                    show(f"    refused ({status}): it may need a key")
            if first_found(map(ReplyPath.parse, look.finds), asked[key]):
                filled = {name: ReplyPath.parse(path).find(asked[key])[:1] for name, path in look.fills.items()}
                options = {"base_url": base, **{name: value[0] for name, value in filled.items() if value}}
                found.append(probe.candidate(driver, options, f"GET {key[0]} answers as this API does"))
                break
    return found or [one async for one in _candidates_by_method(probe, surroundings, show)]


async def _candidates_by_method(
    probe: Probe, surroundings: Surroundings, show: Callable[[str], object]
) -> AsyncIterator[Candidate]:
    """Yield the drivers of which the server has the address that takes turns, if it says so of addresses alone: a GET
    of it is answered by 405, method not allowed, and a GET of another address is not."""
    for base in _bases("openai", probe.url):
        for driver in probed_drivers():
            module = driver_module(driver)
            if module.LOOK.path is None or not (module.address or "").startswith("{{ base_url }}/"):
                continue
            path = module.address.removeprefix("{{ base_url }}")
            if "{{" in path or (await _get(base + path, {}, surroundings))[0] != 405:
                continue
            show(f"looked at {base + path}: it takes another method (405)")
            if (await _get(base + "/no-such-address", {}, surroundings))[0] != 405:
                yield probe.candidate(driver, {"base_url": base}, f"{base + path} is there, for another method")


def asked_candidates(probe: Probe, driver: str) -> list[Candidate]:
    """Return the candidates for a requested driver: by the form of the URL, or with each possible `base_url`."""
    return [one for one in candidates_by_url(probe) if one.driver == driver] or [
        probe.candidate(driver, {"base_url": base}, "it was asked for") for base in _bases(driver, probe.url)
    ]


async def try_candidate(probe: Probe, candidate: Candidate, text: str, surroundings: Surroundings) -> Reply:
    """Send one user turn, and return the reply. Raises DriverError, and InputError for options that do not fit."""
    surroundings = replace(surroundings, exposure=probe.exposure(candidate))
    driver = build_driver(candidate.driver, {**candidate.options, "timeout": probe.seconds}, surroundings)
    try:
        with convert_unexpected():
            session = await driver.open(Opening(_WHO, "probe", 1, seed=1))
            try:
                return await session.say(text)
            finally:
                await session.close()
    finally:
        await driver.close()


def _match_address(address: str | None, url: str) -> dict[str, str] | None:
    """Return the options in a URL that has the form of `address`, such as `{{ base_url }}/model/{{ model }}/converse`.
    None if the URL has another form, or if any URL has this form."""
    parts = re.split(r"\{\{\s*(\w+)\s*\}\}", address or "")
    if not any(len(part) > 1 for part in parts[::2]):
        return None
    pattern = "".join(
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{'https?://.+?' if part == 'base_url' else '[^/?#]+?'})"
        for place, part in enumerate(parts)
    )
    match = re.fullmatch(pattern, url.rstrip("/"))
    if match is None:
        return None
    return {name: value if name == "base_url" else unquote(value) for name, value in match.groupdict().items()}


def _bases(driver: str, url: str) -> tuple[str, ...]:
    """Return the URL, and the URL with the path that `base_url` usually has for this driver."""
    url, path = url.rstrip("/"), urlsplit(_default_base(driver)).path.rstrip("/")
    return (url,) if not path or url.endswith(path) else (url, url + path)


def _default_base(driver: str) -> str:
    return str(_sample(driver, "base_url") or "")


def _sample(driver: str, name: str) -> Any:
    module = driver_module(driver)
    if name in getattr(module, "options", {}):
        return module.options[name].sample
    return (module.Options.model_fields[name].examples or [None])[0]


def _key_option(driver: str) -> str | None:
    module = driver_module(driver)
    names = [name for name, one in getattr(module, "options", {}).items() if one.type == "variable"]
    return next(iter(names), "api_key_env" if "api_key_env" in module.Options.model_fields else None)


def _headers(driver: str, candidate: Candidate) -> Mapping[str, Any]:
    """Return the headers by which the driver shows its key. Those with placeholders are left out."""
    module = driver_module(driver)
    options = module.Options.model_validate(dict(candidate.options))
    described = module.driver_options(options) if hasattr(module, "driver_options") else options
    headers = dict(described.headers)
    if (key := getattr(described, "api_key_env", None)) is not None:
        headers["Authorization"] = {"env": str(key), "prefix": "Bearer "}
    return {name: value for name, value in headers.items() if not (isinstance(value, str) and "{{" in value)}


async def _get(url: str, headers: Mapping[str, Any], surroundings: Surroundings) -> tuple[int, object]:
    """Return the status and the JSON value at an address, or None if there is none. Raises DriverError if there is no
    server."""
    options = WireOptions.model_validate({"headers": headers, "timeout": _LOOK_SECONDS, "max_reply": 2**20})
    wire = Wire(options, surroundings)
    try:
        received = await wire.ask(Request("GET", url))
    except DriverError as fault:
        if fault.reason in _UNREACHABLE:
            raise
        return 0, None
    finally:
        await wire.close()
    return received.status, received.json_or_none if received.status == 200 else None
