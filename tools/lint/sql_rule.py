"""Quality I9: SQL with bound parameters only."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source

TAKES_SQL = frozenset({"text", "execute", "executemany", "exec_driver_sql", "SQL"})


def no_built_sql(source: Source) -> Iterator[Fault]:
    """Refuse SQL put together from pieces, in the call itself or in a variable before it."""
    if not source.is_python or not source.under("src/"):
        return
    built = {
        target.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and _is_built(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.args and _name(node.func) in TAKES_SQL:
            first = node.args[0]
            if _is_built(first) or (isinstance(first, ast.Name) and first.id in built):
                yield source.fault(
                    node,
                    f"SQL built from pieces goes into {_name(node.func)}(); "
                    "bind values as parameters, quote names with psycopg.sql.Identifier",
                )


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_built(value: ast.expr) -> bool:
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in value.values)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Mod | ast.Add) and _has_text(value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr == "format" and _is_text(value.func.value)
    return False


def _has_text(value: ast.BinOp) -> bool:
    return any(
        _is_text(side) or isinstance(side, ast.JoinedStr) or _is_built(side)
        for side in (value.left, value.right)
    )


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
