"""Judgment of a run, or of pairs, by a model: from its endpoint to a layer of judgments. Questions with a stored
reply are not asked again."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.judging.models import questions
from harvest.judging.models.judge_file import Judge
from harvest.judging.models.questions import SampleQuestion, Thing, Verdict
from harvest.judging.replies.asking import JUDGE_REPLIES, Asking, KeptReplies, ask_all
from harvest.voices.endpoint import Endpoint
from recordings.files.times import Now, stamp, utc_now
from recordings.judged.judgments import Judgment, Layer, keep_layer, read_layers
from recordings.secrets.redaction import Redactor
from simulators.outside import Sample
from topics.counting import pluralize

_SOURCE = "harvest judge"
# Characters in a token of English text, by rule of thumb.
_CHARACTERS_PER_TOKEN = 4
_MILLION = 1_000_000  # prices are per million tokens


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost of judging `things`. `requests` counts the requests without a stored reply. All requests
    together contain about `read` tokens, and all replies at most `write` tokens (None without a limit). Each
    request is sent up to `tries` times if its replies cannot be read. `cost` is the highest possible cost (None
    without prices)."""

    things: int
    requests: int
    read: int
    write: int | None
    cost: float | None
    tries: int = 1

    def __str__(self) -> str:
        what = f"{pluralize(self.things, 'thing')} to judge, {pluralize(self.requests, 'request')} to send"
        if not self.requests:
            return f"{what}: all is kept"
        write = "replies of any length" if self.write is None else f"at most {self.write:,} to write"
        cost = "" if self.cost is None else f", at most {self.cost:.2f} by the prices given"
        if self.tries > 1:
            what += f" (at most {self.requests * self.tries:,}, where replies cannot be read)"
        return f"{what}: about {self.read:,} tokens to read, {write}{cost}"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of one judging command. `layer` has all judgments, including things left unjudged. `path` is the file
    of the layer (None if the newest file has the same judgments). `requests` counts the requests that were sent and
    answered, and `failures` counts the endpoint's failures by message. `left` counts the items left for another
    command, because no more requests were allowed."""

    layer: Layer
    requests: int
    failures: Mapping[str, int]
    path: Path | None
    left: int = 0

    @property
    def unjudged(self) -> Counter[str]:
        return Counter(one.unjudged for one in self.layer.judgments if one.unjudged)


def judge_version(judge: Judge, endpoint: Endpoint) -> str:
    """Return the version of a judge: a hash of its prompts, sampling, scale and guideline, but not of its address."""
    sampling = {key: value for key, value in endpoint.definition().items() if key != "base_url"}
    return questions.version_of(sampling, judge.scale, judge.guideline)


def estimate(folder: Path, things: Sequence[Thing], judge: Judge, endpoint: Endpoint, tries: int = 1) -> Estimate:
    """Estimate the cost of judging a run or pairs. Raises RunError if stored replies are of another version."""
    asked = {one.key: one for thing in things for one in thing.asked}
    left = list(asked.values())
    if (folder / JUDGE_REPLIES.folder).exists():  # checking must not create the folder
        kept = KeptReplies(folder, JUDGE_REPLIES, judge.author, judge_version(judge, endpoint), Redactor())
        left = [one for one in left if kept.get(one.key, 0) is None]
        kept.release()
    read = sum(len(message.text) for one in left for message in one.messages) // _CHARACTERS_PER_TOKEN
    most = judge.endpoint.max_tokens
    write = None if most is None else most * len(left) * tries
    cost = None
    if judge.prices is not None and write is not None:
        cost = (read * tries * judge.prices.input + write * judge.prices.output) / _MILLION
    return Estimate(sum(len(thing.about) for thing in things), len(left), read, write, cost, tries)


async def judge_things(
    folder: Path,
    things: Sequence[Thing],
    judge: Judge,
    endpoint: Endpoint,
    secrets: set[str],
    *,
    tries: int,
    most: int | None = None,
    tell: Callable[[], None] = lambda: None,
    clock: Now = utc_now,
) -> Judged:
    """Ask every question without a stored reply, and write a layer of judgments. The endpoint is closed at the end.
    Earlier judgments of this version on other things are part of the new layer. If the endpoint fails, things are left
    unjudged. At most `most` requests are sent. The items are in a fixed random order, so that the items judged so far
    are a random sample. Raises HarvestError if the folder cannot be read or written."""
    cleaner, own = Redactor(secrets), judge_version(judge, endpoint)
    if most is not None:
        things = sorted(things, key=lambda thing: min(one.key for one in thing.asked))  # keys are hashes
    paired = {one.key for thing in things if thing.is_pair for one in thing.asked}

    def read(sample: Sample, question: SampleQuestion) -> Verdict:
        return questions.read_better(sample) if question.key in paired else questions.read_score(sample, judge.scale)

    how: Asking[SampleQuestion, Verdict] = Asking(
        endpoint.name,
        "judge",
        "judge",
        own,
        tries,
        endpoint.concurrency,
        read,
        lambda why: questions.classify_failure(why) != "failed",
        most,
    )
    try:
        async with KeptReplies(folder, JUDGE_REPLIES, judge.author, own, cleaner) as kept:
            every = (one for thing in things for one in thing.asked)
            answers = await ask_all(every, endpoint, kept, how, tell)
    finally:
        await endpoint.close()
    verdicts = {key: Verdict(fault=questions.classify_failure(why)) for key, why in answers.failures.items()}
    verdicts = {**answers.readings, **verdicts}
    # Judgments of other things in layers of this version come first.
    judgments: dict[tuple[str, frozenset[tuple[str, str | int]]], Judgment] = {}
    for earlier in read_layers(folder):
        if (earlier.kind, earlier.author, earlier.version, earlier.source) == ("model", judge.author, own, _SOURCE):
            judgments.update({(one.criterion, frozenset(one.about.items())): one for one in earlier.judgments})
    done = [thing for thing in things if all(one.key in verdicts for one in thing.asked)]
    for thing in done:
        said = questions.combine_verdicts(thing, [verdicts[one.key] for one in thing.asked])
        judgments.update({(one.criterion, frozenset(one.about.items())): one for one in said})
    layer = Layer("model", judge.author, own, _SOURCE, stamp(clock()), tuple(judgments.values()))
    path = keep_layer(folder, layer)
    failures = Counter(map(cleaner.text, answers.failures.values()))
    left = sum(len(one.about) for one in things) - sum(len(one.about) for one in done)
    return Judged(layer, answers.requests, failures, path, left)


def result_sentences(done: Judged) -> Iterator[str]:
    """Yield sentences that describe the result, one for each printed line."""
    layer = done.layer
    criteria = Counter(one.criterion for one in layer.judgments if not one.unjudged)
    listed = ", ".join(f"{name} {count}" for name, count in criteria.items())
    yield (
        f"{layer.author}/{layer.version}: {pluralize(criteria.total(), 'judgment')} ({listed or 'none'}), "
        f"{pluralize(done.requests, 'request')} answered"
    )
    if done.unjudged:
        reasons = ", ".join(f"{why} {count}" for why, count in done.unjudged.most_common())
        yield f"{pluralize(done.unjudged.total(), 'thing')} unjudged, in no figure: {reasons}; repeat the command"
    if done.left:
        yield f"{pluralize(done.left, 'thing')} not asked about yet (--max-requests); the same command goes on"
    for why, count in Counter(done.failures).most_common(3):
        yield f"  {count} x {why}"
    yield f"written to judgments/{done.path.name}" if done.path else "nothing new to write"
