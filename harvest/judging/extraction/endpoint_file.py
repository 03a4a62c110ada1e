"""The file that describes a model for extraction, with the same keys as an audit's `endpoints`.

    format: harvest-endpoints/1
    endpoints:
      nuggets: {base_url: "http://127.0.0.1:8000/v1", model: llama, api_key_env: NUGGETS_KEY}

An audit can be given instead. Only its `endpoints` are then read.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harvest.audits.audit_file import FORMAT as AUDIT
from harvest.audits.audit_file import AuditFile
from harvest.systems.driver import Surroundings
from harvest.voices.endpoint import Endpoint, EndpointOptions
from harvest.voices.endpoints import place_endpoint_errors
from topics.document import Document, StrictModel, read_document

FORMAT = "harvest-endpoints/1"

_DEFAULT_NAME = "nuggets"


class ExtractionOptions(EndpointOptions):
    """Options of a model that extracts nuggets. Its sampling defaults differ from those of other endpoints."""

    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        0.0, description="sent if not null; some servers take none"
    )
    max_tokens: int | None = Field(4096, ge=1, description="of one reply; null: not sent")


class _EndpointFile(StrictModel):
    format: Literal["harvest-endpoints/1"]
    endpoints: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]


def read_extraction_endpoint(
    path: Path, name: str | None, secrets: set[str], *, concurrency: int | None = None
) -> Endpoint:
    """Return the endpoint `name` in the file. Sends nothing yet. Without a name, the endpoint `nuggets` is
    returned, or the only endpoint. The key is added to `secrets`, and `concurrency` overrides the value in the
    file. Raises InputError, with file, line and column, for any fault in the file, and if the key is not set."""
    document = read_document(path)
    entries = _endpoint_entries(document)
    chosen = name or (_DEFAULT_NAME if _DEFAULT_NAME in entries or len(entries) != 1 else next(iter(entries)))
    if chosen not in entries:
        what = (
            f"there is no endpoint {chosen!r}" if name else f"none of the {len(entries)} endpoints is called {chosen!r}"
        )
        raise document.error(("endpoints",), what, allowed=", ".join(entries), advice="choose one: --endpoint NAME")
    part = replace(document.part(("endpoints", chosen)), value=dict(entries[chosen]))
    options = part.validate_as(ExtractionOptions)
    if concurrency is not None:
        options = options.model_copy(update={"concurrency": concurrency})
    around = Surroundings("", Path(document.path).resolve().parent, secrets=secrets)
    with place_endpoint_errors(document, chosen):
        return Endpoint(chosen, options, around, does="extracts nuggets")


def _endpoint_entries(document: Document) -> dict[str, dict[str, Any]]:
    value = document.value
    if not isinstance(value, dict) or value.get("format") not in (FORMAT, AUDIT):
        raise document.error(
            ("format",), "this file does not describe endpoints", allowed=f"format: {FORMAT}, or an audit ({AUDIT})"
        )
    if value["format"] == FORMAT:
        return document.validate_as(_EndpointFile).endpoints
    entries = document.validate_as(AuditFile).endpoints
    if not entries:
        raise document.error(
            (), "this audit has no endpoints", advice="add endpoints: {nuggets: {base_url: …, model: …}}"
        )
    return entries
