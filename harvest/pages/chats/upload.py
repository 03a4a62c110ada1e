"""Files that are given to a page before a turn is typed, as a person would: in its field for files, in the choice of
files that a button opens, or dropped on the box to type in. The next way is tried only if the page has shown nothing
of the files and asked its server for nothing."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from harvest.pages.browser.part import FileField, Part
from harvest.pages.browser.window import Window
from harvest.pages.chats.place import Place
from harvest.pages.finding.failures import is_own_request
from harvest.pages.finding.uploads import (
    UploadState,
    count_names,
    find_attach_buttons,
    find_file_fields,
    find_menu_items,
    read_upload,
    takes_type,
)
from harvest.pages.reading.page import Node, Page
from harvest.pages.sites.site import Site
from harvest.systems.driver import Denied, NotSent, Unanswered
from topics.sent_files import SentFile

_MOST_BYTES = 45 * 2**20  # of the files of a turn: Playwright passes on no more than 50 MB
_CHOOSER_SECONDS = 2.0  # seconds from a press to the choice of files
_REACTION_SECONDS = 4.0  # seconds for a page to show something of a file, besides its server's response time
_CALM_SECONDS = 0.6  # seconds without a change after which a file that is shown counts as attached
_STUCK_SECONDS = 10.0  # seconds after which a sign of work that no request supports is ignored
_STEP = 0.1  # seconds between looks
_MOST_BUTTONS = 4  # pressed in search of a choice of files


@dataclass(frozen=True, slots=True)
class _Way:
    """A part of the page that takes files: a field, or with None what they are dropped on."""

    part: Part
    field: FileField | None

    async def give(self, files: Sequence[SentFile]) -> bool:
        if self.field is None:
            return await self.part.drop_files(files)
        await self.part.set_files(files)
        return True

    async def take_back(self) -> None:
        if self.field is not None:
            await self.part.set_files(())


@dataclass(frozen=True, slots=True)
class Upload:
    """The files of a turn, and the place to type the turn in. `seconds` is the longest wait until the page has
    them."""

    window: Window
    place: Place
    site: Site
    seconds: float

    async def add(self, files: Sequence[SentFile]) -> None:
        """Give the page these files and wait until it shows them as attached. Raises Denied (`cannot-attach`) if the
        page takes no files or none of this type, and Unanswered (`upload-failed`, `upload-unfinished`)."""
        if sum(one.size for one in files) > _MOST_BYTES:
            raise Denied("cannot-attach", f"the files of a turn have more than {_MOST_BYTES // 2**20} MiB together")
        before = await self._look()
        refused = ""
        async for way in self._ways(before):
            accept = way.field.accept if way.field is not None else ""
            other = next((one for one in files if not takes_type(accept, one)), None)
            if other is not None:
                refused = f"the page takes {accept} there, and not {other.name} ({other.type})"
            elif await self._is_given(way, files, before):
                return
        advice = "if it takes them, name its field or its button in `attach` of a site file"
        raise Denied("cannot-attach", refused or f"no field, button or place to drop files on took the file; {advice}")

    async def _is_given(self, way: _Way, files: Sequence[SentFile], before: Page) -> bool:
        """Give the page the files, one by one if it takes no more at once. Returns False if it showed no reaction to
        the first. Raises Denied if it has let go of one for another."""
        alone = way.field is not None and not way.field.several
        seen = before
        for number, lot in enumerate([[one] for one in files] if alone else [files]):
            self.window.traffic.mark()
            if not await way.give(lot) or not await self._is_taken(seen, lot):
                if number:
                    raise Unanswered("upload-failed", f"the page shows nothing of {lot[0].name}")
                await way.take_back()
                return False
            seen = await self._look()
        shown = [count_names(seen, one.name) > count_names(before, one.name) for one in files]
        if alone and any(shown) and not all(shown):
            lost = files[shown.index(False)].name
            raise Denied("cannot-attach", f"the page takes one file with a turn, and let go of {lost}")
        return True

    async def _is_taken(self, before: Page, files: Sequence[SentFile]) -> bool:
        """Wait until the page shows these files as attached. Returns False if it shows nothing of them."""
        clock, traffic = self.window.clock, self.window.traffic
        begun = changed = clock.monotonic()
        last: UploadState | None = None
        while True:
            now = await self._look()
            composer = now.by_id.get(self.place.composer)
            if composer is None:
                raise Unanswered("upload-failed", "the text box disappeared after the file was given to the page")
            state = read_upload(before, now, composer, files)
            failed = next((one for one in traffic.faults if one.method != "GET" and is_own_request(now, one)), None)
            if failed is not None:
                what = failed.what or f"HTTP {failed.status}"
                raise Unanswered("upload-failed", f"the page could not store the file: {what}")
            if state.complaint:
                raise Unanswered("upload-failed", f"the page did not take the file: {state.complaint[:200]!r}")
            at, storing = clock.monotonic(), any(one.method != "GET" for one in traffic.pending)
            if state != last or storing:
                last, changed = state, at
            calm = at - changed
            if not storing and not (state.working and calm < _STUCK_SECONDS):
                if state.shown and calm >= _CALM_SECONDS:
                    return True
                if calm >= _REACTION_SECONDS + traffic.lag:
                    return bool(state.traces)  # the page may show a file in a way of its own
            if at - begun >= self.seconds:
                raise Unanswered(
                    "upload-unfinished", f"the page did not finish storing the file within {self.seconds:g} s"
                )
            await clock.sleep(_STEP)

    async def _ways(self, page: Page) -> AsyncIterator[_Way]:
        """Yield the parts of the page that take files, the most likely first. Buttons are pressed for it."""
        composer = page.by_id.get(self.place.composer)
        if composer is None:
            return
        near, far = find_file_fields(page, composer)
        buttons = find_attach_buttons(page, composer)[:_MOST_BUTTONS]
        if self.site.attach is not None:
            named = page.marked("attach")
            near, far = [node for node in named if node.tag == "input"], []
            buttons = [node for node in named if node.tag != "input" and node.visible]
        for node in near:
            if (way := await self._field(node)) is not None:
                yield way
        for node in buttons:
            if (way := await self._choice(node, page)) is not None:
                yield way
        if self.site.attach is None and (box := await self.place.frame.node(composer.id)) is not None:
            yield _Way(box, None)
        for node in far if len(far) == 1 else ():  # one of several may be for something else
            if (way := await self._field(node)) is not None:
                yield way

    async def _field(self, node: Node) -> _Way | None:
        part = await self.place.frame.node(node.id)
        field = await part.file_field() if part is not None else None
        return _Way(part, field) if part is not None and field is not None else None

    async def _choice(self, button: Node, before: Page, *, may_be_menu: bool = True) -> _Way | None:
        """Press a button, and return the field of the choice of files that it opens, at once or by an item of a menu.
        Returns None if it opens none."""
        part = await self.place.frame.node(button.id)
        if part is None:
            return None
        try:
            chosen = await self.window.field_chosen_by(part.click(), _CHOOSER_SECONDS)
        except NotSent:
            return None
        if chosen is not None:
            field = await chosen.file_field()
            return _Way(chosen, field) if field is not None else None
        if not may_be_menu:
            return None
        now = await self._look()
        for item in find_menu_items(before, now):
            if (way := await self._choice(item, now, may_be_menu=False)) is not None:
                return way
        composer = now.by_id.get(self.place.composer)
        near, far = find_file_fields(now, composer) if composer is not None else ([], [])
        for node in (*near, *far):  # the press has brought a field
            if node.id not in before.by_id and (way := await self._field(node)) is not None:
                return way
        return None

    async def _look(self) -> Page:
        return await self.place.frame.look(self.site.selectors)
