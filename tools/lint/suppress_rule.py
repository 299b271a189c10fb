"""Nothing is silenced without a trace: no exception, where ruff does not see it, and no tool."""

import ast
import re
from collections.abc import Iterator

from tools.lint.source import Fault, Source, last_name

_SILENCED = re.compile(
    r"# (?:noqa: [A-Z0-9]+(?:, ?[A-Z0-9]+)*|type: ignore\[[a-z, -]+\])(?P<rest>.*)"
)
_REASON = re.compile(r"\s+(?:#|--?|—)\s+\w|\s+# (?:noqa|type):")
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


def no_silence_without_reason(source: Source) -> Iterator[Fault]:
    """Refuse a line of the service on which a tool is silenced and nothing says why."""
    if not (source.is_python and source.under("src/")):
        return
    for number, line in enumerate(source.text.splitlines(), 1):
        found = _SILENCED.search(line)
        if found and not _REASON.match(found["rest"]):
            yield Fault(source.path, number, "say behind the comment why the tool is wrong here")
