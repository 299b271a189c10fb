"""No exception disappears without a trace: what ruff's BLE001 and S110 do not see."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source, last_name

BROAD = frozenset({"Exception", "BaseException"})


def no_broad_suppress(source: Source) -> Iterator[Fault]:
    """Refuse `suppress(Exception)`."""
    if not source.is_python:
        return
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) == "suppress"
            and any(last_name(argument) in BROAD for argument in node.args)
        ):
            yield source.fault(node, "suppress(Exception) hides every fault; name the error")
