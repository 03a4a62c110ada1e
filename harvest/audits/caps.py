"""The caps of an audit as written, and whether they can be kept."""

from collections.abc import Iterator, Mapping

from harvest.audits.audit_file import AuditFile
from harvest.audits.system import System
from harvest.systems.driver import Driver
from recordings.log.caps import Caps, Door, Price
from topics.document import Document
from topics.errors import InputError, suggestion

# The keys of an audit, and options of `harvest run`, by the kinds of `Amounts`.
KEYS = {"cost": "max_cost", "tokens": "max_tokens", "turns": "max_turns"}


def read_caps(
    document: Document,
    file: AuditFile,
    given: Mapping[str, float],
    systems: tuple[System, ...],
    drivers: Mapping[str, Driver],
) -> Caps | None:
    """Return the caps of an audit, or None if it has none. `given` replaces caps of the file, by the kinds of
    `Amounts`. A system without its own price has the prices for scoring, if there are any. Raises InputError, with its
    place in the audit, for a price of something that the audit does not have, for a missing price, and for a system
    that does not report the tokens that a cap needs."""
    endpoints = tuple(file.endpoints)
    known = (*(system.name for system in systems), *endpoints)
    for name in file.prices:
        if name not in known:
            what = f"there is no system or endpoint {name!r}{suggestion(name, known)}"
            raise document.error(("prices", name), what, allowed=", ".join(known), key=True)
        if known.count(name) > 1:
            what = f"{name!r} is a system and an endpoint, so it is not clear whose price this is"
            raise document.error(("prices", name), what, advice="rename one of them", key=True)
    written = {kind: most for kind, key in KEYS.items() if (most := getattr(file, key)) is not None}
    most = {kind: float(value) for kind, value in {**written, **given}.items()}
    if not most:
        return None
    prices = {name: Price(entry.input, entry.output, entry.turn) for name, entry in file.prices.items()}
    scoring = file.scoring.model_dump(exclude_none=True)
    for system in systems:
        to_read, to_write = (scoring.get(f"{kind}_prices", {}).get(system.name) for kind in ("input", "output"))
        if system.name not in prices and to_read is not None and to_write is not None:
            prices[system.name] = Price(to_read, to_write)
    caps = Caps(most, prices if "cost" in most else {})
    for fault in _faults(caps, systems, drivers, endpoints):
        at = next((KEYS[kind] for kind in written if kind not in given), None)
        raise InputError(fault.what, place=document.place((at,)) if at else None, advice=fault.advice)
    return caps


def _faults(
    caps: Caps, systems: tuple[System, ...], drivers: Mapping[str, Driver], endpoints: tuple[str, ...]
) -> Iterator[InputError]:
    for name in (*(system.name for system in systems), *endpoints) if "cost" in caps.most else ():
        if name not in caps.prices:
            yield InputError(
                f"max_cost needs the price of {name!r}",
                advice=f"add it to the audit: prices: {{{name}: {{input: …, output: …}}}} for a million tokens, or "
                "{turn: …} for each turn",
            )
    for system in systems:
        if caps.needs_counts(Door(system.name)) and not drivers[system.name].capabilities.tokens:
            yield uncounted_error(system.name, f"the driver {system.driver!r} does not report tokens")


def uncounted_error(name: str, why: str) -> InputError:
    """Return the error for a cap that needs the counts of tokens of `name`, which has none."""
    return InputError(
        f"max_tokens and max_cost cannot be kept for {name!r}: {why}",
        advice=f"use max_turns, or max_cost with a price per turn (prices: {{{name}: {{turn: …}}}})",
    )
