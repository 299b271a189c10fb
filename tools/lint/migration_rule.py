"""Each migration has a number of its own: two of one number are two lines of migrations."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from tools.lint.source import Fault, Source

FOLDER: Final = "src/mudra/storage/database/migrations/versions"
_REVISION: Final = re.compile(r'^(revision|down_revision) = "(\w+)"$', re.MULTILINE)


def clashing_migrations(sources: Sequence[Source]) -> Iterator[Fault]:
    """Refuse a number, a revision or a predecessor that another migration has.

    Two branches that each add a migration merge without a conflict in git, since the files' names
    differ; the next free number is for the one that lands later.
    """
    taken: dict[tuple[str, str], str] = {}
    for source in sources:
        path = PurePosixPath(source.path)
        if str(path.parent) != FOLDER or path.suffix != ".py":
            continue
        number = path.name.partition("_")[0]
        said = dict(_REVISION.findall(source.text))
        if (revision := said.get("revision")) != number:
            yield Fault(
                source.path, 1, f"its name begins with {number}, its revision is {revision}"
            )
        for what, value in [("number", number), *said.items()]:
            former = taken.setdefault((what, value), path.name)
            if former != path.name:
                yield Fault(source.path, 1, f"{former} has the {what} {value} too: take the next")
