"""Run every rule over every tracked file: `python -m tools.lint`, from the root."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.lint.clock_rule import no_clock_outside_its_file
from tools.lint.commit_rule import no_commit_outside_database
from tools.lint.docstring_rule import package_says_never
from tools.lint.name_rule import no_drawer
from tools.lint.place_rule import no_foreign_place
from tools.lint.secret_rule import no_secret_in_a_sentence
from tools.lint.source import Rule, Source
from tools.lint.sql_rule import no_built_sql
from tools.lint.swallow_rule import no_swallowed_exception


def sources(root: Path) -> Iterator[Source]:
    """Every text file that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in sorted(set(filter(None, listed.split("\0")))):
        path = root / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield Source(name, content.decode("utf-8", errors="replace"))


def main(root: Path) -> int:
    """Print each fault; give the exit status."""
    rules: tuple[Rule, ...] = (
        no_clock_outside_its_file,
        no_commit_outside_database,
        no_secret_in_a_sentence,
        no_built_sql,
        no_drawer,
        package_says_never,
        no_swallowed_exception,
        no_foreign_place(root, Path.home()),
    )
    faults = [fault for source in sources(root) for rule in rules for fault in rule(source)]
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} against the rules of the house (tools/lint)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
