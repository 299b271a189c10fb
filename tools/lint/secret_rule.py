"""Quality L1: a secret is never woven into a sentence."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source, last_name

LOGGERS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "print"})


def no_secret_in_a_sentence(source: Source) -> Iterator[Fault]:
    """Refuse `.reveal()` in an f-string, in %- or .format-text, and in a log call.

    A text that goes straight into `SecretText(...)` stays a secret and is free.
    """
    if not source.is_python or not source.under("src/", "tools/", "bench/"):
        return
    hidden = {
        argument
        for node in source.nodes
        if isinstance(node, ast.Call) and last_name(node.func) == "SecretText"
        for argument in node.args
    }
    for node in source.nodes:
        if node not in hidden and _weaves(node) and (reveal := _reveal_in(node)) is not None:
            yield source.fault(reveal, ".reveal() inside a text or a log call; pass the SecretText")


def _weaves(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod)
    if isinstance(node, ast.Call):
        return last_name(node.func) in LOGGERS or (
            isinstance(node.func, ast.Attribute) and node.func.attr == "format"
        )
    return False


def _reveal_in(node: ast.AST) -> ast.Call | None:
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and inner.func.attr == "reveal"
        ):
            return inner
    return None
