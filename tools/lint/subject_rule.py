"""The subject of a commit: at most 72 characters, capitalized, without a period at its end."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.lint.source import Fault

SINCE = "9303f5975210ad92c7711c10a2889ee3436b88aa"
"""The last commit before the rule."""
MAX_LENGTH = 72
LONGER = ("2197e4fed098df3d", "89e1b47066c30c1e")
"""Commits with a longer subject, which history keeps."""


def bad_subjects(root: Path, since: str = SINCE) -> Iterator[Fault]:
    """Check the commits since the rule; nothing outside git or in a shallow clone."""
    listed = subprocess.run(
        ["git", "log", "--no-merges", "--format=%H %s", f"{since}..HEAD"],
        cwd=root,
        capture_output=True,
        check=False,
        text=True,
    )
    for line in listed.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if not commit.startswith(LONGER):
            for problem in problems(subject):
                yield Fault(f"commit {commit[:9]}", 1, f"{problem}: {subject}")


def problems(subject: str) -> Iterator[str]:
    """Say what is wrong with a subject."""
    if len(subject) > MAX_LENGTH:
        yield f"its subject has {len(subject)} characters, at most {MAX_LENGTH} are allowed"
    if not subject[:1].isupper():
        yield "its subject begins with a capital letter"
    if subject.endswith("."):
        yield "its subject ends without a period"
