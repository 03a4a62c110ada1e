"""JUnit XML with a suite for each system, and a case for each figure that can change the exit code.

`failure` is a bad result (exit code 1), `error` a figure that could not be measured (3), and `skipped` a result that
is unclear or does not count yet. A file therefore has a failure or error exactly if the exit code is not 0.
"""

import math
from datetime import UTC, datetime
from xml.etree import ElementTree as Tree

from harvest.notices.bulletin import Account, Bulletin, Estimate, Notice, plain
from recordings.files.times import stamp

_GOOD = ("same", "kept")

_TO_THE_SECOND = len("2026-01-31T12:00:00")  # the schema of these files allows neither fractions nor a zone


def junit(bulletin: Bulletin) -> bytes:
    """Return a JUnit XML file, encoded in UTF-8."""
    root = Tree.Element("testsuites", {"name": plain(f"harvest {bulletin.command} {bulletin.audit}")})
    suites = [_system_suite(one, bulletin) for one in bulletin.accounts]
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    root.set("time", "0")
    root.extend(suites)
    Tree.indent(root)
    text: bytes = Tree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def is_junit(data: bytes) -> bool:
    """Return True if a file was written by `junit`, for any audit."""
    return data.lstrip().startswith(b"<?xml") and b'<testsuites name="harvest ' in data[:1000]


def _system_suite(account: Account, bulletin: Bulletin) -> Tree.Element:
    suite = Tree.Element("testsuite", {"name": plain(account.system)})
    own = {"run": bulletin.run, "verdict": bulletin.verdict, "exit_code": str(bulletin.code)}
    _add_properties(suite, own)
    cases = [_figure_case(one, account, bulletin) for one in account.notices if one.decides]
    suite.extend(cases)
    suite.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", "0")
    suite.set("timestamp", stamp(datetime.fromtimestamp(bulletin.at, UTC))[:_TO_THE_SECOND])
    if account.details:
        Tree.SubElement(suite, "system-out").text = "\n".join(map(plain, account.details))
    return suite


def _figure_case(one: Notice, account: Account, bulletin: Bulletin) -> Tree.Element:
    where = plain(f"{bulletin.audit}.{account.system}")
    case = Tree.Element("testcase", {"name": plain(one.figure), "classname": where, "time": "0"})
    found = {"n": str(one.n), **_interval_texts("value", one.now), "baseline": _value_text(one.before)}
    found |= _interval_texts("difference", one.moved)
    _add_properties(case, {name: value for name, value in found.items() if value})
    if one.verdict in _GOOD:
        return case
    said = {"message": plain(one.sentence)}
    if one.code == 0:
        Tree.SubElement(case, "skipped", said)
    else:
        Tree.SubElement(case, "failure" if one.code == 1 else "error", {**said, "type": one.verdict})
    return case


def _interval_texts(name: str, one: Estimate) -> dict[str, str]:
    return {name: _value_text(one.value), f"{name}_low": _value_text(one.low), f"{name}_high": _value_text(one.high)}


def _value_text(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""


def _add_properties(parent: Tree.Element, values: dict[str, str]) -> None:
    within = Tree.SubElement(parent, "properties")
    for name, value in values.items():
        Tree.SubElement(within, "property", {"name": name, "value": plain(value)})
