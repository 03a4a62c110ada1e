"""`harvest check`: validate an audit and print its plan, without sending anything."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from harvest.audits.audit import Audit, load_audit
from harvest.audits.groups import null_pairs_of
from harvest.audits.probes import harm_ladders, new_sessions
from harvest.audits.sent_files import sent_file_lines
from harvest.audits.system import System
from harvest.cli.caps import cap_lines, cap_options, expectation_lines, most_costs
from harvest.cli.exposures import host_note, keys_in_clear_option, show_exposures
from harvest.cli.parameters import PathArgument, ShortHelp
from harvest.playing.plan import Plan, make_plan, refuse_small_cap
from harvest.terminal import printable, prose_width, wrap_lines
from protocols.interpreter import begin
from protocols.route import Say
from protocols.rules.registry import languages_known
from recordings.conversations.conversation import Conversation
from recordings.log.caps import standings
from scoring.settings import scoring_settings
from simulators.registry import default_hazards
from simulators.stopping.hazard import ORIGIN
from topics.clusters import nearly_equal_topics, nearly_same_note
from topics.counting import count_time, pluralize
from topics.decimals import percent
from topics.languages import language_name, language_of
from topics.plug_ins import loaded_plug_ins
from topics.unseen_characters import character_name, find_unseen, show_unseen

# Options of drivers that locate the system.
_ADDRESS_OPTIONS = ("url", "base_url", "function", "run")

# The number of places to name for an invisible character.
_MOST_NAMED = 3

# Words and signs of two languages; recognising others loads a model.
_ENGLISH = re.compile(r"\b(?:the|please|what|which|how|with|that|does|you)\b", re.IGNORECASE)
_KANA = re.compile(r"[\u3040-\u30ff]")

# The number of topics with their first turns shown, and of words at each end of a turn.
_OPENINGS, _ENDS = 3, 6

# Seconds of a usual answer, for the time that a run takes; the drivers that answer from this machine take none.
_ANSWER_SECONDS = 5.0
_INSTANT = ("parrot", "replay")

# The number of their seed turns shown, and of words at each end of a turn.
_TURNS, _TURN_ENDS = 6, 3


@click.command(cls=ShortHelp)
@click.argument("audit", type=PathArgument(str))
@click.option("--out", metavar="RUN", type=PathArgument(), help="Count what is already recorded in this run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@keys_in_clear_option
@cap_options
def command(audit: str, out: Path | None, as_json: bool, keys_in_clear: bool, caps: dict[str, float]) -> None:
    """Validate an audit and print its plan, without sending anything.

    AUDIT is a file, or a shipped name such as `demo`. The command first prints all effects of the audit on this
    machine: the code to run, the servers to contact, and the environment variables with their recipients. Only then
    does the command import the functions that the audit names.
    """
    show = partial(show_exposures, err=as_json)
    resolved = load_audit(audit, caps=caps, keys_in_clear=keys_in_clear, show=show)
    with resolved.document.add_place(("scoring",)):
        scoring_settings(resolved.scoring, resolved.topics, resolved.gold)
    if resolved.thresholds:
        from harvest.studies.scores.bounds import check_bounds  # late: it imports every measure

        check_bounds(resolved)
    refuse_small_cap(resolved)
    recorded: tuple[Conversation, ...] = ()
    taken: list[str] = []
    if out is not None:
        from recordings.log.continuation import refuse_differences  # late: there is usually nothing to read
        from recordings.log.run_folder import is_run, read

        if is_run(out):
            run = read(out)
            refuse_differences(run.header, resolved.header(), out)
            recorded = run.conversations
            taken = list(expectation_lines(standings(run.header, run.attempts)))
    plan = make_plan(resolved, recorded, counted=True)
    # User turns in every attempt of every trial.
    most_turns = sum(
        resolved.protocol.most_turns(work.topic) * system.limits.attempts
        for system in resolved.played
        for sitting in plan.sittings[system.name]
        for work in sitting.works
    )
    # The trials of each system that meet a member of the population: the seed decides which they are.
    met = Counter(
        member.name
        for topic in resolved.topics.topics
        for trial in range(1, resolved.trials_with(topic) + 1)
        if (member := resolved.member_of(topic, trial)) is not None
    )
    systems: list[dict[str, Any]] = [
        {
            "name": system.name,
            "system": system.asked,
            "group": system.group or None,
            "arm": None if system.arm is None else system.arm.name,
            "driver": system.driver,
            "address": _system_address(resolved, system),
            "session": system.session,
            "concurrency": system.limits.concurrency,
            "spacing": system.limits.spacing,
            "trials": sum(len(sitting.works) for sitting in plan.sittings[system.name]),
        }
        for system in resolved.played
    ]
    seconds, slowest, paced = max(_playing_times(resolved, plan), default=(0.0, "", False))
    document: dict[str, Any] = {
        "format": "harvest-plan/1",
        "audit": resolved.name,
        "protocol": resolved.protocol.name,
        "topics": len(resolved.topics.topics),
        "trials_each": resolved.trials,
        "trials_of": dict(resolved.trials_of),
        "systems": systems,
        "groups": list(resolved.groups),
        "arms": [arm.name for arm in resolved.arms],
        "factors": resolved.factors,
        "left_out": list(resolved.design.left_out) if resolved.design is not None else [],
        "population": {one.name: {"share": one.share, "trials": met[one.name]} for one in resolved.population},
        "null_pairs": [list(pair) for pair in null_pairs_of(resolved.protocol, resolved.groups)],
        "trials_planned": plan.planned,
        "trials_recorded": plan.recorded,
        "trials_to_play": plan.to_play,
        "turns_at_most": plan.most_turns,
        "requests_at_most": plan.most_requests,
        "caps": resolved.caps.as_json()["most"] if resolved.caps else {},
        "cost_at_most": most_costs(resolved, resolved.caps, plan) if resolved.caps else None,
        "seconds_about": seconds,
        "endpoint_requests_at_most": resolved.endpoints.count_most_requests(resolved.protocols, most_turns),
        "unasked_hazards": {
            name: hazard.model_dump(mode="json")
            for protocol in resolved.protocols
            for name, hazard in default_hazards(protocol).items()
        },
        "exposures": [
            {
                "name": one.who,
                "runs": list(one.code),
                "contacts": list(one.origins),
                "proxies": list(one.proxies),
                "variables": list(one.variables),
                "other_secrets": list(one.other_secrets),
                "in_clear": list(one.in_clear),
            }
            for one in resolved.exposures
        ],
        "asks_for_harm": [asdict(one) for one in harm_ladders(resolved.protocols)],
        "new_sessions": max(map(new_sessions, resolved.protocols)),
        "plug_ins": list(loaded_plug_ins()),
        "unseen_characters": _unseen_characters(resolved),
        "languages_unknown_to_rules": _unknown_languages(resolved),
        "files": list(sent_file_lines(resolved.protocol, resolved.topics.topics)),
        "gold": len(resolved.gold) if resolved.gold is not None else 0,
        "sources": len(resolved.topics.sources.entries),
        "nearly_same": [list(group) for group in nearly_equal_topics(resolved.topics.topics)],
    }
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    _echo(f"{resolved.name}: {resolved.protocol.name} over {resolved.topics.name}, nothing was sent")
    if document["plug_ins"]:
        _echo(f"  of installed packages it uses {printable('; '.join(document['plug_ins']), line=True)}")
    groups = f", groups of users: {len(resolved.groups)}" if resolved.groups else ""
    groups += f", arms: {len(resolved.arms)}" if resolved.arms else ""
    groups += f", users drawn from: {len(resolved.population)}" if resolved.population else ""
    _echo(
        f"  topics: {len(resolved.topics.topics)}, trials of each: {resolved.trials_in_words}, "
        f"systems: {len(resolved.systems)}{groups}"
    )
    for name in dict.fromkeys(system["system"] for system in systems):
        own = [system for system in systems if system["system"] == name]
        first = own[0]
        address = printable(str(first["address"]), line=True) if first["address"] else ""
        address += f" ({note})" if (note := host_note(address)) else ""
        pace = f", a turn every {first['spacing']:g} s" if first["spacing"] else ""
        trials = pluralize(sum(system["trials"] for system in own), "trial")
        how = f", {first['session']} sessions, {first['concurrency']} at a time{pace}, {trials} to play"
        told = f"  {name}: {first['driver']}{f' ({address})' if address else ''}{how}"
        if not address or len(told) <= prose_width():
            _echo(told)
        else:
            _echo(f"  {name}: {first['driver']}{how}")
            click.echo(f"    {address}")  # unbroken, so that it can be copied
        if resolved.groups and resolved.arms:
            pairs = (f"{system['group']} in {system['arm']}: {system['trials']}" for system in own)
            _echo("    of " + ", ".join(pairs))
        elif resolved.groups:
            _echo("    of " + ", ".join(f"{system['group']}: {system['trials']}" for system in own))
        elif resolved.design is not None and len({system["trials"] for system in own}) == 1:
            _echo(f"    in each of its {pluralize(len(own), 'cell')}: {own[0]['trials']}")
        elif resolved.arms:
            _echo("    in " + ", ".join(f"{system['arm']}: {system['trials']}" for system in own))
    for line in _design_lines(resolved):
        _echo(f"  {line}")
    for name, member in document["population"].items():
        drawn = pluralize(member["trials"], "trial")
        _echo(f"  user {name}: {percent(member['share'], 1)} of the population, drawn for {drawn} of each system")
    if resolved.groups:
        none = "none: without one, group differences cannot be compared with the system's own variation"
        said = ", ".join(f"{one} and {other} say the same" for one, other in document["null_pairs"])
        _echo(f"  null pairs: {said or none}")
    _echo(f"  trials: {plan.planned} planned, {plan.recorded} recorded, {plan.to_play} to play")
    _echo(f"  user turns: {plan.most_turns} at most; requests: {plan.most_requests} at most, including retries")
    if seconds:
        why = f"at the pace of {slowest}" if paced else f"if an answer takes {_ANSWER_SECONDS:g} s"
        _echo(f"  time: about {count_time(seconds)} for all turns, {why}")
    for line in (*cap_lines(resolved, plan), *taken):
        _echo(f"  cap: {line}")
    for name, most in document["endpoint_requests_at_most"].items():
        _echo(f"  requests to the endpoint {name!r}: {most} at most, including refused samples and retries")
    for one in harm_ladders(resolved.protocols):
        _echo(f"  asks for harm, as the audit declares: {one.user} climbs the ladder {one.ladder}, {one.rungs} rungs")
    if document["new_sessions"]:
        back = pluralize(document["new_sessions"], "time")
        _echo(f"  in each conversation a user comes back in a new session {back} at most, as the same person")
    for name, hazard in document["unasked_hazards"].items():
        _echo(
            f"  note: the user {name!r} leaves by a hazard that its file does not ask for: after turn t, with a share "
            f"c of its need met, logit {hazard['constant']:g} + {hazard['turn']:g}·t + {hazard['coverage']:g}·c "
            f"({ORIGIN}). To say how it leaves, give it stop: a model, or null"
        )
    for told in (*_opening_lines(resolved), *document["files"]):
        _echo(f"  {told}")
    if document["unseen_characters"]:
        each = (
            f"{name} in {', '.join(where[:_MOST_NAMED])}"
            + (f" and {len(where) - _MOST_NAMED} more" if len(where) > _MOST_NAMED else "")
            for name, where in document["unseen_characters"].items()
        )
        _echo(f"  note: users say invisible characters, which systems read: {'; '.join(each)}")
    for kind, one in document["languages_unknown_to_rules"].items():
        counts = ", ".join(f"{language_name(code)}: {count}" for code, count in one["topics"].items())
        several = f"{sum(one['topics'].values())} of {pluralize(len(resolved.topics.topics), 'topic')}"
        known = " and ".join(map(language_name, one["knows"]))
        if len(one["knows"]) > _MOST_NAMED:
            known = f"{len(one['knows'])} languages"
        _echo(
            f"  note: the rule {kind} knows {known} only, and {several} are "
            f"in other languages ({counts}): add what such answers say there, as {{contains: {{phrases: […]}}}}"
        )
    judged = len(resolved.gold or ())
    table = resolved.topics.sources
    others = " and sources" if table.entries else ""
    gold = pluralize(judged, "judged entity") if judged else f"none: only usefulness{others} will be scored"
    _echo(f"  gold: {gold}")
    if table.entries:
        _echo(f"  sources: a table of {pluralize(len(table.entries), 'row')}, by {', '.join(table.columns)}")
    if document["nearly_same"]:
        _echo(f"  note: {nearly_same_note(document['nearly_same'])}")


def _design_lines(audit: Audit) -> Iterator[str]:
    """Yield lines on the cells of the audit's design, on what it leaves out, and on places that differ only in name."""
    if audit.design is None:
        return
    levels = " x ".join(f"{factor} ({', '.join(own)})" for factor, own in audit.factors.items())
    yield f"design: {levels}: {pluralize(len(audit.arms), 'cell')} of each system"
    for said in audit.design.left_out:
        yield f"left out: {said}"
    for system in audit.systems:
        asked: dict[str, list[str]] = {}
        for place in audit.design.vantages.values():
            options = json.dumps(place.options_of(system.name, system.options), sort_keys=True)
            asked.setdefault(options, []).append(place.name)
        for alike in (names for names in asked.values() if len(names) > 1):
            yield (
                f"note: {system.name} is asked in the same way from {' and '.join(alike)}: these differ only in what "
                "the audit declares, unless something outside of it makes them differ"
            )


def _playing_times(audit: Audit, plan: Plan) -> Iterator[tuple[float, str, bool]]:
    """Yield for each system the seconds for all turns that may be asked, its name, and whether its pace sets them."""
    turns: Counter[str] = Counter()
    for system in audit.played:
        works = (work for sitting in plan.sittings[system.name] for work in sitting.works)
        turns[system.asked] += sum(audit.protocol.most_turns(work.topic) for work in works)
    for system in audit.systems:
        if system.driver not in _INSTANT:
            one = max(system.limits.spacing, _ANSWER_SECONDS / system.limits.concurrency)
            yield one * turns[system.asked], system.name, one == system.limits.spacing


def _echo(text: str) -> None:
    click.echo(wrap_lines(text, prose_width(), hang=4))


def _opening_lines(audit: Audit) -> Iterator[str]:
    """Yield lines with the first and last words of opening turns and seed turns, for the first topics. These words
    show whether a file lost text, and whether a turn was split into several."""
    for topic in audit.topics.topics[:_OPENINGS]:
        action, _ = begin(audit.protocol, topic)
        if isinstance(action, Say):
            yield f"on {topic.id} a user first says: {_shorten_middle(action.text, _ENDS)}"
        if len(topic.turns) > 1:
            turns = [f"({n}) {_shorten_middle(turn, _TURN_ENDS)}" for n, turn in enumerate(topic.turns[:_TURNS], 1)]
            more = [f"and {len(topic.turns) - _TURNS} more"] if len(topic.turns) > _TURNS else []
            yield f"{topic.id} has {pluralize(len(topic.turns), 'turn')}: {' '.join([*turns, *more])}"


def _shorten_middle(text: str, most: int) -> str:
    """Return `text` on one line. A text of more than `most` words is shortened to its first and last words."""
    words = printable(show_unseen(text), line=True).split()
    return " ".join([*words[:most], "…", *words[-most:]] if len(words) > 2 * most else words)


def _unseen_characters(audit: Audit) -> dict[str, list[str]]:
    said = [
        (topic.id, (topic.request, topic.subject, *topic.turns, *topic.fields.values()))
        for topic in audit.topics.topics
    ]
    said += [
        (f"the state {name!r}", (state.say.template,)) for name, state in audit.protocol.states.items() if state.say
    ]
    found: dict[str, list[str]] = {}
    for where, texts in said:
        for character in dict.fromkeys(one for text in texts for one in find_unseen(str(text))):
            found.setdefault(character_name(character).removeprefix("the character "), []).append(where)
    return found


def _unknown_languages(audit: Audit) -> dict[str, dict[str, Any]]:
    """Return, by the kinds of rules on edges, which languages they know, and how many topics are in each other one."""
    known: dict[str, tuple[str, ...]] = {}
    for protocol in audit.protocols:
        for name in {edge.rule for state in protocol.states.values() for edge in state.edges if edge.rule}:
            known |= languages_known(protocol.rules[name])
    texts = [" ".join((topic.request, *topic.turns)) for topic in audit.topics.topics if known]
    asked = Counter(
        "en" if _ENGLISH.search(text) else "ja" if _KANA.search(text) else language_of(text) for text in texts
    )
    found = {
        kind: {
            "knows": list(codes),
            "topics": {code: n for code, n in asked.most_common() if code and code not in codes},
        }
        for kind, codes in sorted(known.items())
    }
    return {kind: one for kind, one in found.items() if one["topics"]}


def _system_address(audit: Audit, system: System) -> str | None:
    if system.driver == "browser":
        from harvest.drivers.browser import BrowserDriver  # late: brings the browser's library

        driver = audit.drivers[system.asked]
        assert isinstance(driver, BrowserDriver)
        return driver.url  # which may be in a site file
    if "argv" in system.options:
        return shlex.join(map(str, system.options["argv"]))
    return next((str(system.options[name]) for name in _ADDRESS_OPTIONS if name in system.options), None)
