"""One use case, one transaction: only storage/database/database.py ends it."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source

OWNER = "src/mudra/storage/database/database.py"
# The agent's spool is a SQLite file of its own, with nothing of the service in it.
SPOOL = "src/mudra/agent/"
ENDINGS = frozenset({"commit", "rollback"})


def no_commit_outside_database(source: Source) -> Iterator[Fault]:
    """Refuse `.commit(` and `.rollback(` anywhere but in their one file."""
    if not source.is_python or not source.under("src/") or source.path == OWNER:
        return
    if source.under(SPOOL):
        return
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ENDINGS
        ):
            yield source.fault(
                node,
                f".{node.func.attr}() outside storage/database/database.py; "
                "let the edge's transaction end it",
            )
