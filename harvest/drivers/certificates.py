"""The certificates of a connection: the trusted certificates, and the client's own."""

import os
import ssl
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

from harvest.drivers.connection_faults import message_of
from harvest.drivers.options import ClientCertificate, WireOptions, resolve_text
from harvest.systems.driver import Surroundings
from topics.errors import InputError, Place
from topics.regular_file import open_regular, read_regular

if TYPE_CHECKING:
    import httpx
else:
    httpx = lazy_loader.load("httpx")  # it knows where the machine's certificates are


def chosen_certificates(options: WireOptions, surroundings: Surroundings) -> ssl.SSLContext | None:
    """Return the certificates that the user chose, or None for those of the machine, which are slow to read and need no
    check beforehand. Raises InputError for a file that cannot be read."""
    own = surroundings.folder / options.ca_file if options.ca_file is not None else None
    client = options.auth.client_cert if options.auth is not None else None
    if client is not None:
        context = _read_certificates(own)
        _add_client(context, client, surroundings)
        return context
    if own is None and os.environ.keys().isdisjoint(("SSL_CERT_FILE", "SSL_CERT_DIR")):
        return None
    return _read_certificates(own) if own is not None else machine_certificates()


def machine_certificates() -> ssl.SSLContext:
    """Return the machine's certificates, or those in SSL_CERT_FILE and SSL_CERT_DIR. They are many, so they are read
    once for all systems without certificates of their own. Raises InputError for variables that lead to none."""
    return _read_once(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _read_once(file: str | None, folder: str | None) -> ssl.SSLContext:
    return _read_certificates(None)


def _read_certificates(path: Path | None) -> ssl.SSLContext:
    try:
        if path is None:
            return httpx.create_ssl_context(trust_env=True)
        open_regular(path).close()  # a pipe would be waited on for ever
        return ssl.create_default_context(cafile=path)
    except (OSError, ValueError) as fault:  # an SSLError is an OSError; ValueError: a NUL in the path
        what = "ca_file" if path else "the file or folder in SSL_CERT_FILE or SSL_CERT_DIR"
        place = Place(str(path)) if path else None
        raise InputError(f"{what} cannot be read as certificates: {fault}", place=place) from None


def _add_client(context: ssl.SSLContext, client: ClientCertificate, surroundings: Surroundings) -> None:
    certificate = surroundings.folder / client.certificate
    key = surroundings.folder / client.key if client.key is not None else None
    password = resolve_text(client.password, surroundings) if client.password is not None else ""
    encrypted = False
    try:
        open_regular(certificate).close()
        encrypted = b"ENCRYPTED" in read_regular(key or certificate)
        # Without a password, OpenSSL would ask for it at the terminal.
        context.load_cert_chain(certificate, key, password=lambda: password)
    except (OSError, ValueError) as fault:  # an SSLError is an OSError; ValueError: no password at all
        why = "the password is wrong or missing" if encrypted else getattr(fault, "strerror", None) or message_of(fault)
        raise InputError(
            f"system {surroundings.system!r}: the client certificate or its key cannot be used: {why}",
            place=Place(str(key or certificate)),
            allowed="a certificate and its private key in PEM form",
        ) from None
