"""The words of a state: a template that is filled in from the topic and checked before anything is sent.

Templates are sandboxed Jinja, restricted to pure constructs that can be checked when the file is read: variables,
filters from a fixed list, `if`, `for` and `set`. Includes, calls and randomness are not allowed. Only the protocol's
own text is a template; texts of the topic are data and inserted literally, even if they look like templates.

A file from an unknown author must not exhaust memory or time either. Therefore the only arithmetic is + and -,
numbers have at most six digits, loops are not nested, `set` may not use values that were set before, the number of
joined parts is limited, filters process a bounded number of characters, and the result of each filter and of the
template is limited to 100,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from topics.errors import InputError
from topics.topic import Topic

if TYPE_CHECKING:  # jinja takes 40 ms to import, and most commands render nothing
    from jinja2 import Environment, Template, nodes

# The parts of `topic` that a template may use; `topic.fields.NAME` gives the file's own texts.
TOPIC_WORDS = ("asks_for", "fields", "id", "request", "subject", "turns", "type")

# Length of the longest text that a template may produce, in characters.
LONGEST = 100_000

# The filters a template may use: those of Jinja that are pure and need no quoted names.
FILTERS = frozenset(
    {"capitalize", "default", "first", "indent", "int", "join", "last", "length", "lower", "replace", "reverse"}
    | {"round", "sort", "string", "title", "trim", "truncate", "unique", "upper", "wordcount"}
)

_LONGEST_TEMPLATE = 20_000  # characters: templates are other people's, and run here
_OWN_WORDS = ("asks_for", "id", "request", "subject")
_HOLE = re.compile(r"\{\{ *(turn|item|topic\.(?:asks_for|id|request|subject|type|fields\.[a-z][a-z0-9_]*)) *\}\}")
_SPECIAL = re.compile(r"[{\r]")  # of templates; and line ends, which they normalise
_LARGEST_NUMBER = 1_000_000  # `'a' * 10**9` fills the memory
_DEEPEST = 40  # Jinja compiles by recursion
_MOST_JOINED = 100  # doubling a text so often fills the memory
_MOST_WORK = 10_000_000  # characters that all filters of one template may process
_SLOW_FILTERS = {"sort": 10, "unique": 10}  # a character counts as so many: they call a function for each
_LOOP_WORDS = ("first", "index", "index0", "last", "length", "nextitem", "previtem", "revindex", "revindex0")
_OF_LOOPS = ", ".join(f"loop.{word}" for word in _LOOP_WORDS)
_STATEMENTS = "{{ variable }}, {% if %}, {% for %}, {% set %}"

# Number of characters and elements that the filters of the current template have processed.
_WORK: ContextVar[int] = ContextVar("work", default=0)


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of a template. If `each` is true, the template may use `item`, one of the topic's turns."""

    template: str
    each: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a template, on `line` (from 1). `words` is the faulty part of the template, or "" if unknown."""

    what: str
    allowed: str
    line: int
    words: str


def render(wording: Wording, topic: Topic, *, turn: int, item: str = "") -> str:
    """Return the words of the state about `topic` as user turn `turn` (from 1), without surrounding white space.
    Raises InputError if a value is missing or the text is empty."""
    words = {"turn": str(turn), "item": item if wording.each else ""}
    words |= _words_of(topic) | {f"topic.fields.{name}": word for name, word in topic.fields.items()}
    if (parts := _plain_parts(wording.template)) and all(words.get(name, "").strip() for name in parts[1::2]):
        text = "".join(words[part] if place % 2 else part for place, part in enumerate(parts)).strip()
        if 0 < len(text) <= LONGEST:
            return text
    from jinja2 import TemplateError

    _WORK.set(0)
    variables: dict[str, object] = {"topic": _topic_view(topic), "turn": turn}
    if wording.each:
        variables["item"] = item
    try:
        text = ""
        for piece in _compile_template(wording.template).generate(variables):
            text += piece
            if len(text) > LONGEST:
                raise ValueError(f"the text has more than {LONGEST:,} characters")
    except TemplateError as fault:
        named = re.search(r"attribute '([^']*)'", fault.message or "")
        name = named[1] if named else ""
        if name in fields_used(wording) - set(topic.fields):
            raise InputError(
                f"topic {topic.id!r} has no field {name!r}",
                allowed=", ".join(f"topic.fields.{name}" for name in sorted(topic.fields))
                or "this topic has no fields",
                advice="add it to the topic, or write {{ … | default('…') }}",
            ) from None
        if name in TOPIC_WORDS:
            raise InputError(
                f"topic {topic.id!r} has no {name}", advice="add it to the topic, or write {{ … | default('…') }}"
            ) from None
        raise InputError(f"topic {topic.id!r}: {fault.message}") from None
    except (TypeError, ValueError, ArithmeticError, AssertionError, RecursionError, MemoryError) as fault:
        raise InputError(f"topic {topic.id!r}: the template cannot be filled in: {fault}") from None
    text = text.strip()
    if not text:
        raise InputError(
            f"topic {topic.id!r}: the template gives no text", advice="write a template that produces text"
        )
    return text


@lru_cache(maxsize=256)
def _plain_parts(template: str) -> list[str] | None:
    """Return the texts and, between them, the names of words, or None if Jinja has to fill in the template."""
    parts = _HOLE.split(template)
    return None if any(_SPECIAL.search(text) for text in parts[::2]) else parts


@lru_cache(maxsize=256)  # users check their templates again for every conversation
def template_faults(wording: Wording) -> tuple[Fault, ...]:
    """Return the errors in a template that do not depend on the topic."""
    return tuple(_look_for_faults(wording))


def _look_for_faults(wording: Wording) -> Iterator[Fault]:
    from jinja2 import TemplateSyntaxError, nodes

    if len(wording.template) > _LONGEST_TEMPLATE:
        yield Fault(f"the template has more than {_LONGEST_TEMPLATE:,} characters", "a shorter template", 1, "")
        return
    try:
        tree = _make_environment().parse(wording.template)
        heavy = _find_heavy_part(tree, 0)
    except TemplateSyntaxError as fault:
        yield Fault(f"the template cannot be parsed: {fault.message}", _STATEMENTS, fault.lineno, "")
        return
    except RecursionError:
        yield Fault("the template is nested too deeply", f"at most {_DEEPEST} levels", 1, "")
        return
    except ValueError:  # Python refuses to read a whole number of thousands of digits
        yield Fault("the template contains too large a number", f"numbers up to {_LARGEST_NUMBER:,}", 1, "")
        return
    if heavy:
        yield heavy
        return
    allowed_names = {"topic", "turn", *(("item",) if wording.each else ())}
    own = {node.name for node in tree.find_all(nodes.Name) if node.ctx in ("store", "param")}
    allowed = ", ".join(sorted({"turn", *(f"topic.{word}" for word in TOPIC_WORDS), *(allowed_names - {"topic"})}))
    for name in sorted(own & allowed_names):
        places = (node.lineno for node in tree.find_all(nodes.Name) if node.name == name and node.ctx != "load")
        yield Fault(f"the template redefines {name!r}", "another name", next(places), name)
    yield from _find_faults(tree, frozenset(allowed_names | own | {"loop"}), allowed)


def _find_heavy_part(node: nodes.Node, depth: int, *, looping: bool = False) -> Fault | None:
    from jinja2 import nodes

    line = node.lineno
    if depth > _DEEPEST:
        return Fault("the template is nested too deeply", f"at most {_DEEPEST} levels", line, "")
    if isinstance(node, nodes.BinExpr) and not isinstance(node, (nodes.Add, nodes.Sub, nodes.And, nodes.Or)):
        return Fault(f"the operator {node.operator} is not allowed in protocols", "+ and -", line, "")
    if isinstance(node, nodes.Const) and isinstance(node.value, (int, float)) and abs(node.value) > _LARGEST_NUMBER:
        return Fault("the template contains too large a number", f"numbers up to {_LARGEST_NUMBER:,}", line, "")
    if isinstance(node, nodes.For):
        if looping:
            return Fault("the template has a loop inside a loop", "loops one after the other", line, "for")
        looping = True
    if isinstance(node, nodes.AssignBlock):
        return Fault("the template sets a variable with a block", "{% set name = value %}", line, "set")
    if isinstance(node, nodes.Template):
        sums = sum(1 for _ in node.find_all((nodes.Add, nodes.Sub)))
        if sums + sum(len(one.nodes) for one in node.find_all(nodes.Concat)) > _MOST_JOINED:
            return Fault(
                f"the template joins more than {_MOST_JOINED} values by +, - and ~", "a shorter template", line, ""
            )
        before = {name.name for one in node.find_all(nodes.Assign) for name in one.target.find_all(nodes.Name)}
        before |= {one.target.name for one in node.find_all(nodes.Assign) if isinstance(one.target, nodes.Name)}
        for one in node.find_all(nodes.Assign):
            used = {name.name for name in one.node.find_all(nodes.Name)}
            used |= {one.node.name} if isinstance(one.node, nodes.Name) else set()
            if used & before:
                name = min(used & before)
                return Fault(
                    f"the value depends on {name!r}, which the template sets too", "topic, turn", one.lineno, name
                )
    found = (_find_heavy_part(child, depth + 1, looping=looping) for child in node.iter_child_nodes())
    return next((fault for fault in found if fault), None)


def _find_faults(node: nodes.Node, names: frozenset[str], allowed: str) -> Iterator[Fault]:
    from jinja2 import nodes

    if isinstance(node, (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Macro, nodes.CallBlock)):
        word = type(node).__name__.lower()
        yield Fault(f"{word!r} is not allowed in protocols", _STATEMENTS, node.lineno, word)
        return
    if isinstance(node, nodes.Call):
        yield Fault(
            "a template cannot call functions",
            f"filters: {', '.join(sorted(FILTERS))}",
            node.lineno,
            _chain_text(node.node),
        )
        return
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        yield Fault(f"unknown filter {node.name!r}", ", ".join(sorted(FILTERS)), node.lineno, node.name)
    if isinstance(node, (nodes.Getattr, nodes.Getitem)):
        chain = _name_chain(node)
        if chain and chain[0] in ("topic", "turn", "item"):
            fault = _chain_fault(chain, names, allowed, node)
            if fault:
                yield fault
            return
        if fault := _part_fault(node, chain):
            yield fault
            return
        if chain[:1] == ["loop"]:
            return
    if isinstance(node, nodes.Name) and node.ctx == "load":
        if node.name not in names:
            yield Fault(f"unknown variable {node.name!r}", allowed, node.lineno, node.name)
        elif node.name == "topic":
            yield Fault("'topic' is not text by itself", allowed, node.lineno, "topic")
        elif node.name == "loop":
            yield Fault("'loop' is not text by itself", _OF_LOOPS, node.lineno, "loop")
    for child in node.iter_child_nodes():
        yield from _find_faults(child, names, allowed)


def _chain_fault(chain: list[str | int | None], names: frozenset[str], allowed: str, node: nodes.Node) -> Fault | None:
    text = _chain_text(node)
    if chain[0] not in names:
        return Fault(f"unknown variable {chain[0]!r}", allowed, node.lineno, str(chain[0]))
    if None in chain:
        return Fault(
            f"{text} uses a name that is only known when the template is filled in", allowed, node.lineno, text
        )
    if chain[0] == "topic" and chain[1] not in TOPIC_WORDS:
        return Fault(f"unknown variable '{text}'", allowed, node.lineno, text)
    if chain == ["topic", "fields"]:
        return Fault("'topic.fields' is not text by itself", "topic.fields.NAME", node.lineno, text)
    if chain[:2] == ["topic", "turns"] and len(chain) == 3 and isinstance(chain[2], int):
        return None
    if len(chain) > (3 if chain[:2] == ["topic", "fields"] else 2 if chain[0] == "topic" else 1):
        return Fault(f"unknown variable '{text}': it has no parts", allowed, node.lineno, text)
    return None


def _part_fault(node: nodes.Getattr | nodes.Getitem, chain: list[str | int | None]) -> Fault | None:
    """Check access to a part of a filter's result, a loop, a variable or a literal, and return the fault or None.
    Jinja would also find Python attributes such as methods, and the text of a method contains a memory address that
    varies."""
    from jinja2 import nodes

    if chain[:1] == ["loop"]:
        if len(chain) == 2 and chain[1] in _LOOP_WORDS:
            return None
        return Fault(f"unknown variable '{_chain_text(node)}'", _OF_LOOPS, node.lineno, _chain_text(node))
    if isinstance(node, nodes.Getitem):
        number = node.arg.node if isinstance(node.arg, nodes.Neg) else node.arg
        if isinstance(number, nodes.Slice) or (isinstance(number, nodes.Const) and isinstance(number.value, int)):
            return None
        return Fault("a part of a value must be given by a number", "a whole number, as in [0]", node.lineno, "[")
    allowed = f"filters: {', '.join(sorted(FILTERS))}"
    return Fault(f"a value has no part {node.attr!r}", allowed, node.lineno, node.attr)


def _name_chain(node: nodes.Node) -> list[str | int | None]:
    """Return `topic.fields.year` as ["topic", "fields", "year"], with None for computed parts. Returns [] for any
    other expression."""
    from jinja2 import nodes

    parts: list[str | int | None] = []
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getattr):
            parts.append(node.attr)
        else:
            constant = node.arg.value if isinstance(node.arg, nodes.Const) else None
            parts.append(constant if isinstance(constant, (str, int)) else None)
        node = node.node
    return [node.name, *reversed(parts)] if isinstance(node, nodes.Name) else []


def _chain_text(node: nodes.Node) -> str:
    chain = _name_chain(node)
    if not chain:
        return str(getattr(node, "name", ""))
    return ".".join("…" if part is None else str(part) for part in chain)


def fields_used(wording: Wording) -> frozenset[str]:
    """Return the names of the topic's fields in the template: NAME for every `topic.fields.NAME`."""
    from jinja2 import nodes

    tree = _make_environment().parse(wording.template)
    chains = (_name_chain(node) for node in tree.find_all((nodes.Getattr, nodes.Getitem)))
    return frozenset(str(chain[2]) for chain in chains if chain[:2] == ["topic", "fields"] and len(chain) > 2)


def _topic_view(topic: Topic) -> SimpleNamespace:
    """Return the parts of a topic that templates may use, without gold, URL kinds and attribute sets. Empty texts are
    left out, because a template with an empty text would send a sentence with a gap."""
    said = {name.removeprefix("topic."): word for name, word in _words_of(topic).items() if word.strip()}
    return SimpleNamespace(turns=topic.turns, fields=SimpleNamespace(**topic.fields), **said)


def _words_of(topic: Topic) -> dict[str, str]:
    return {"topic.type": topic.type.name, **{f"topic.{name}": getattr(topic, name) for name in _OWN_WORDS}}


@lru_cache(maxsize=1)
def _make_environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, finalize=_text_value
    )
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    environment.filters.update(indent=_filter_indent, join=_filter_join, replace=_filter_replace)
    environment.filters = {name: _bound_filter(name, filter_) for name, filter_ in environment.filters.items()}
    return environment


def _text_value(value: object) -> object:
    """Return a value that can be inserted. Raises TypeError for values that are not text, such as lists and objects."""
    from jinja2 import Undefined

    if value is None or isinstance(value, (str, int, float, Undefined)):  # undefined values raise their own error
        return value
    raise TypeError(f"a value of the type {type(value).__name__} is not text: use `join`, `first` or `last`")


def _bound_filter(name: str, filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)  # keeps Jinja's mark for extra arguments
    def bounded(*arguments: Any, **options: Any) -> Any:
        made = filter_(*arguments, **options)
        if isinstance(made, Iterator):  # whose text would contain its address in memory
            made = list(islice(made, LONGEST + 1))
        if isinstance(made, (str, list)) and len(made) > LONGEST:
            raise ValueError(f"the result of {name} has more than {LONGEST:,} characters")
        processed = sum(len(one) for one in (*arguments, made) if isinstance(one, (str, list)))
        _WORK.set(_WORK.get() + processed * _SLOW_FILTERS.get(name, 1))
        if _WORK.get() > _MOST_WORK:
            raise ValueError(f"the filters may process at most {_MOST_WORK:,} characters")
        return made

    return bounded


def _filter_indent(text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    from jinja2.filters import do_indent

    if len(width if isinstance(width, str) else range(width)) > 100:
        raise ValueError("indent allows at most 100 columns")
    return do_indent(text, width, first, blank)


def _filter_join(things: Iterable[object], d: str = "") -> str:
    words = list(map(str, things))
    if sum(map(len, words)) + len(words) * len(d) > LONGEST:
        raise ValueError(f"the result of join has more than {LONGEST:,} characters")
    return d.join(words)


def _filter_replace(text: object, old: str, new: str, count: int = -1) -> str:
    words = str(text)
    if len(words) + (words.count(old) if old else len(words) + 1) * len(new) > LONGEST:
        raise ValueError(f"the result of replace has more than {LONGEST:,} characters")
    return words.replace(old, new, count)


@lru_cache(maxsize=512)
def _compile_template(template: str) -> Template:
    return _make_environment().from_string(template)


def locate_fault(fault: Fault, template: str) -> tuple[str, int]:
    """Return a regular expression for the faulty words, and the number of its matches before the fault."""
    expression = r"(?<![\w.])" + r"\W{1,4}".join(re.escape(part) for part in fault.words.split(".")) + r"(?!\w)"
    before = "".join(template.splitlines(keepends=True)[: fault.line - 1])
    # Words outside {{ }} and {% %} on the same line are data: the fault is in the first braces that contain them.
    line = (template.splitlines(keepends=True) or [""])[min(fault.line, template.count("\n") + 1) - 1]
    inside = next((m for m in re.finditer(r"\{[{%].*?[}%]\}", line) if re.search(expression, m[0])), None)
    before += line[: inside.start()] if inside else ""
    return expression, sum(1 for _ in re.finditer(expression, before))
