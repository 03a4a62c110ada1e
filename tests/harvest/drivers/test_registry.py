"""Finding a driver by its name, and saying where in an audit its options are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import DRIVERS, build_driver, driver_module, options_model
from harvest.systems.driver import Surroundings
from topics.document import Document, StrictModel, parse_document
from topics.errors import InputError

AUDIT = """\
systems:
  - name: A
    driver: openai
    options:
      base_url: http://127.0.0.1:1/v1
      model: m1
      headers:
        X-Ok: fine
        Authorization: Bearer sk-literal
  - name: B
    driver: command
    options:
      argv: [bot]
      mode: jsn
  - name: C
    driver: http
    options:
      url: http://127.0.0.1:1/
      body: {q: "{{ text }}"}
      reply: $.a
      open:
        url: http://127.0.0.1:1/start
        metod: GET
  - name: D
    driver: openai
  - name: E
    driver: pyhton
    options: {function: "a:b"}
  - name: F
    driver: openai
    options: {base_url: "http://127.0.0.1:1", model: m1, api_key_env: NOT_SET}
"""


def _build(index: int) -> None:
    document: Document = parse_document(AUDIT, "audit.yaml")
    system: Any = document.value["systems"][index]  # type: ignore[index]
    loc = ("systems", index, "options") if "options" in system else ("systems", index)
    around = Surroundings(system["name"], Path(), environment={})
    build_driver(system["driver"], system.get("options", {}), around, document=document, loc=loc)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (0, r"audit\.yaml:8:9: headers: header Authorization carries a secret: write \{env: NAME\}"),
        (1, r"audit\.yaml:14:13: mode: .*\n  allowed: 'lines', 'json' or 'once'"),
        (2, r"audit\.yaml:23:9: unknown key 'metod': did you mean 'method'"),
        (3, r"audit\.yaml:24:5: missing key 'base_url'"),
        (4, r"audit\.yaml:28:14: there is no driver 'pyhton': did you mean 'python'"),
        (5, r"audit\.yaml:31:14: system 'F' needs the environment variable NOT_SET"),
    ],
)
def test_a_fault_is_reported_with_its_place_in_the_audit(index: int, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        _build(index)


@pytest.mark.parametrize("name", DRIVERS)
def test_every_module_has_the_members_that_the_registry_promises(name: str) -> None:
    module = driver_module(name)
    assert issubclass(options_model(name), StrictModel)
    assert callable(module.build)


def test_without_a_file_the_system_is_named() -> None:
    with pytest.raises(InputError, match=r"^options of 'Z': missing key 'argv'"):
        build_driver("command", {}, Surroundings("Z", Path()))


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=", ".join(DRIVERS)):
        driver_module("browser_")


def test_only_used_drivers_are_imported() -> None:
    code = (
        "import sys, harvest.drivers.registry as r; from pathlib import Path\n"
        "from harvest.systems.driver import Surroundings\n"
        "assert not {'httpx', 'numpy', 'harvest.drivers.http'} & set(sys.modules), 'too early'\n"
        "r.build_driver('command', {'argv': ('x',)}, Surroundings('s', Path()))\n"
        "assert not {'httpx', 'numpy', 'harvest.drivers.openai'} & set(sys.modules), 'not needed'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
