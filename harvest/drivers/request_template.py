"""Requests made from the options of an audit, with values in the place of placeholders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from harvest.drivers import template as templates
from harvest.drivers.file_shapes import multipart
from harvest.drivers.history import json_bytes
from harvest.drivers.http_options import Attach, Call, Options, Poll
from harvest.drivers.options import Headers, resolve_text
from harvest.drivers.received import excerpt
from harvest.drivers.template import LiteralValue
from harvest.drivers.wire import Request
from harvest.systems.driver import Surroundings, Unanswered
from topics.sent_files import SentFile


class RequestTemplate:
    """A request with placeholders. `shared` are headers that it has unless its own options name them too."""

    def __init__(self, call: Call | Poll | Options, shared: Headers, surroundings: Surroundings) -> None:
        self._method, self._url = call.method, call.url if isinstance(call.url, str) else ""
        self._part = call.part if isinstance(call, Attach) else None
        self._query = templates.insert_secrets(call.query, surroundings)
        self._body = templates.insert_secrets(call.body, surroundings)
        self._form = templates.insert_secrets(call.form, surroundings)
        self._headers: dict[str, str | LiteralValue] = {
            name: value if isinstance(value, str) else LiteralValue(resolve_text(value, surroundings))
            for name, value in {**shared, **call.headers}.items()
        }

    def request(self, values: Mapping[str, object], address: str = "") -> Request:
        """Return the request with these values of placeholders, to `address` if that is not "". A header with a value
        that is None is left out. Raises Unanswered: `bad-session` if a header cannot hold its value, `no-value` if the
        path of the URL has none."""
        for name in templates.placeholders(self._url.partition("?")[0]):
            if name != "session" and values[name] is None:
                raise Unanswered("no-value", f"no reply so far had a value for {{{{ {name} }}}} in {self._url}")
        url = address or templates.fill_url(self._url, values)
        url = templates.add_query(url, templates.fill(self._query, values))
        headers: dict[str, str] = {}
        for name, template in self._headers.items():
            if any(values[used] is None for used in templates.placeholders(template)):  # no session yet
                continue
            value = templates.fill(template, values)
            if not str(value).isascii() or not str(value).isprintable():
                raise Unanswered("bad-session", f"header {name} cannot hold {excerpt(repr(value), 60)}")
            headers[name] = str(value)
        content = None
        if self._form is not None and self._part is not None:
            headers["Content-Type"], content = multipart(
                templates.form_values(templates.fill(self._form, values)),
                self._part,
                cast("Sequence[SentFile]", values["files"]),
            )
        elif self._form is not None:
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            content = templates.encode_form(templates.fill(self._form, values)).encode()
        elif self._body is not None:
            headers.setdefault("Content-Type", "application/json")
            content = json_bytes(templates.fill(self._body, values))
        return Request(self._method, url, headers, content)
