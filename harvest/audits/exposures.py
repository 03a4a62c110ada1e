"""Exposures of an audit file: its effects on this machine, which are determined before any of them happens."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from harvest.audits.audit_file import AuditFile
from harvest.audits.groups import grouped_name
from harvest.drivers.registry import driver_module, read_exposure
from harvest.systems.exposure import Exposure
from topics.document import Document
from topics.errors import InputError, Place, suggestion
from topics.yaml_values import Loc

# The command option, never in a file, that allows keys to be sent over http to other machines.
KEYS_IN_CLEAR = "--keys-in-clear"


def read_exposures(document: Document, file: AuditFile) -> tuple[Exposure, ...]:
    """Return the exposure of each system and each endpoint. Raises InputError, with its place in the audit, for an
    unknown driver and for options that the driver does not accept."""
    folder = Path(document.path).resolve().parent
    found = []
    vantages = file.design.vantages.values() if file.design is not None else ()
    names = [entry.name for entry in file.systems]
    for vantage in vantages:
        for name in vantage.systems:
            if name not in names:
                what = f"the audit has no system {name!r}{suggestion(name, names)}"
                raise document.error((*vantage.loc, "systems", name), what, allowed=", ".join(names), key=True)
    for place, entry in enumerate(file.systems):
        with document.add_place(("systems", place, "driver")):
            driver_module(entry.driver)
        loc: Loc = ("systems", place, "options")
        loc = loc if loc in document.marks else loc[:2]
        found.append(read_exposure(entry.driver, entry.options, entry.name, folder, document=document, loc=loc))
        for vantage in vantages:
            options, who = vantage.options_of(entry.name, entry.options), grouped_name(entry.name, vantage.name)
            found.append(read_exposure(entry.driver, options, who, folder, document=document, loc=vantage.loc))
    if file.endpoints:
        from harvest.voices.endpoint import (
            EndpointOptions,  # late: an audit without endpoints does not need its imports
        )

        for name, options in file.endpoints.items():
            part = replace(document.part(("endpoints", name)), value=dict(options))
            found.append(Exposure.from_options(f"endpoint {name}", part.validate_as(EndpointOptions)))
    return tuple(found)


def refuse_keys_in_clear(exposures: Iterable[Exposure], document: Document | None) -> None:
    """Raise InputError, with its place in a document, if a secret would be sent to another machine in clear text."""
    for one in exposures:
        if one.in_clear:
            values = (f"the value of {' and '.join(one.variables)}",) if one.variables else ()
            sent = " and ".join((*values, *one.other_secrets))
            raise InputError(
                f"{one.who}: {sent} would be sent to {' and '.join(one.in_clear)} over plain http, "
                "where anyone on the network can read it",
                place=_place_of_variable(document, one) if document is not None else None,
                allowed="https://, or an address of this machine (localhost, 127.0.0.1, [::1])",
                advice=f"if the network is safe, add {KEYS_IN_CLEAR} to the command; this cannot be set in a file",
            )


def _place_of_variable(document: Document, exposure: Exposure) -> Place:
    for loc, _ in sorted(document.marks.items(), key=lambda one: one[1]):
        value: Any = document.value
        with suppress(LookupError, TypeError):
            for step in loc:
                value = value[step]
            if isinstance(value, str) and value in exposure.variables:
                return document.place(loc)
    return document.place()
