"""The use cases that read the directory: follow its changes, and see it as it was."""

import datetime as dt

from mudra.registry.directory.directory import MAX_PAGE, Directory, Visibility
from mudra.registry.directory.mirror import Page, as_of, needs_whole, page, whole
from mudra.registry.ports import DirectoryLog


async def changes_since(log: DirectoryLog, visibility: Visibility, since: int) -> Page:
    """Return the caller's next page of changes after `since`."""
    directory = await log.current()
    if needs_whole(since, directory, await log.opened_at()):
        return whole(directory, visibility, since)
    following = await log.following(since, MAX_PAGE)
    # A change that was committed after `current` was read belongs to the next page.
    seen = [one for one in following if one.sequence <= directory.sequence]
    return page(directory, seen, visibility, since)


async def directory_at(log: DirectoryLog, moment: dt.datetime) -> Directory:
    """Return the directory as it was at a moment."""
    return as_of(await log.until(moment), moment)
