"""No exception disappears without a trace."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source, last_name

BROAD = frozenset({"Exception", "BaseException"})


def no_swallowed_exception(source: Source) -> Iterator[Fault]:
    """Refuse a broad `except` that does nothing, and a broad `suppress`."""
    if not source.is_python:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and _is_idle(node.body):
            yield source.fault(node, "a broad except that does nothing; name the error or log it")
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) == "suppress"
            and any(_is_broad(argument) for argument in node.args)
        ):
            yield source.fault(node, "suppress(Exception) hides every fault; name the error")


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(last_name(one) in BROAD for one in kinds)


def _is_idle(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(line, ast.Pass | ast.Continue)
        or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for line in body
    )
