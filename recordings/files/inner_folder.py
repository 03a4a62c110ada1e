"""The folders inside a run. None may be a link, because links in a run are not followed when it is read."""

import os
from pathlib import Path

from recordings.files.errors import RunError
from topics.errors import Place


def inner_folder(run: Path, name: str, holds: str) -> Path:
    """Return the folder `name` of a run, which may not exist yet. holds: its content, for the message. Raises RunError
    if it is a link or not a folder."""
    folder = run / name
    if folder.is_symlink():
        raise RunError(
            f"this is a link, and links in a run are not followed, so no {holds} can be read there",
            place=Place(str(folder)),
            allowed="folders of the run itself; the whole run folder may be a link",
            advice="put the folder that it leads to in its place; for another disk, move the whole run folder "
            "there and give its new path, or a link to it",
        )
    if os.path.lexists(folder) and not folder.is_dir():
        raise RunError(f"this is not a folder, so no {holds} can be in it", place=Place(str(folder)))
    return folder
