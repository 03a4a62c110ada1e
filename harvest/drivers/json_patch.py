"""JSON patches (RFC 6902), by which some streams change one document, with JSON pointers (RFC 6901)."""

import copy
import json
import re
from collections.abc import Sequence
from typing import Any, TypeGuard

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class PatchError(ValueError):
    """A patch that cannot be applied."""


def apply_patch(document: Any, operations: Sequence[object]) -> Any:
    """Return the document after all operations. The document is changed, and is of no use if one of them fails. Raises
    PatchError, with the operation."""
    for operation in operations:
        try:
            document = _apply(document, operation)
        except (KeyError, TypeError, PatchError) as fault:
            raise PatchError(f"{json.dumps(operation)[:120]}: {fault}") from None
    return document


def is_patch(value: object) -> TypeGuard[list[object]]:
    """Return whether a value is a list of operations, rather than a document."""
    return isinstance(value, list) and all(isinstance(one, dict) and "op" in one and "path" in one for one in value)


def _apply(document: Any, operation: Any) -> Any:
    kind, steps = operation["op"], _steps(operation["path"])
    if kind == "add":
        return _put(document, steps, operation["value"], new=True)
    if kind == "replace":
        return _put(document, steps, operation["value"], new=False)
    if kind == "remove":
        return _remove(document, steps)
    if kind == "test":
        # As JSON, true is not 1.
        if json.dumps(_at(document, steps), sort_keys=True) != json.dumps(operation["value"], sort_keys=True):
            raise PatchError("the value differs")
        return document
    if kind in ("move", "copy"):
        source = _steps(operation["from"])
        value = copy.deepcopy(_at(document, source))
        return _put(_remove(document, source) if kind == "move" else document, steps, value, new=True)
    raise PatchError("the operation is not known")


def _steps(pointer: object) -> list[str]:
    if not isinstance(pointer, str) or (pointer and pointer[0] != "/"):
        raise PatchError(f"{pointer!r} is not a JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _at(document: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        document = document[_key(document, step)]
    return document


def _key(holder: Any, step: str, *, end: bool = False) -> Any:
    """Return the key of an object or the index of a list. With `end`, the index may be one behind the last."""
    if isinstance(holder, dict):
        if step in holder or end:
            return step
    elif isinstance(holder, list):
        index = len(holder) if step == "-" and end else int(step) if _INDEX.fullmatch(step) else -1
        if 0 <= index < len(holder) + end:
            return index
    raise PatchError(f"there is nothing at {step!r}")


def _put(document: Any, steps: Sequence[str], value: Any, *, new: bool) -> Any:
    if not steps:
        return value
    holder = _at(document, steps[:-1])
    key = _key(holder, steps[-1], end=new)
    if new and isinstance(holder, list):
        holder.insert(key, value)
    else:
        holder[key] = value
    return document


def _remove(document: Any, steps: Sequence[str]) -> Any:
    if not steps:
        return None
    holder = _at(document, steps[:-1])
    del holder[_key(holder, steps[-1])]
    return document
