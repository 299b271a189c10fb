"""Tests prove figures: a test writes the limit that it proves, and changes no constant of ours."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tools.lint.source import Fault, Source, last_name

_FIGURE: Final = re.compile(r"_?[A-Z][A-Z0-9_]+")
_UNITS: Final = frozenset({"AFTER_EXPIRY", "DAY", "HOUR", "MINUTE", "SECOND", "WINDOW"})
"""They measure what others are about: the spec's window of ten minutes, a day."""
_NOT_FIGURES: Final = frozenset({"UNSHARED_UID", "WINDOWS_PER_DAY", "WINDOWS_PER_HOUR"})
_OWN: Final = "src/mudra/"
_BUILDERS: Final = "tests/support/"


def figures_of_tests(sources: Sequence[Source]) -> Iterator[Fault]:
    """Refuses tests that import a figure from `mudra`, or set a private constant there."""
    figures = {_module(one): _figures(one) for one in sources if one.path.startswith(_OWN)}
    for source in sources:
        if source.is_python and source.under("tests/") and not source.under(_BUILDERS):
            for node in source.nodes:
                if isinstance(node, ast.ImportFrom):
                    yield from _imported(source, node, figures)
                elif isinstance(node, ast.Call) and last_name(node.func) == "setattr":
                    yield from _patched(source, node)


def _imported(
    source: Source, node: ast.ImportFrom, figures: Mapping[str, frozenset[str]]
) -> Iterator[Fault]:
    for name in node.names:
        if name.name in figures.get(node.module or "", ()):
            said = f"{name.name} is a figure: write it out, so that the test fails when it changes"
            yield source.fault(node, said)


def _patched(source: Source, node: ast.Call) -> Iterator[Fault]:
    names = [
        one.value.rpartition(".")[2]
        for one in node.args[:2]
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    for name in names:
        if name.startswith("_") and _FIGURE.fullmatch(name):
            yield source.fault(node, f"{name} is private: give its value as an argument")


def _module(source: Source) -> str:
    return source.path.removeprefix("src/").removesuffix(".py").replace("/", ".")


def _figures(source: Source) -> frozenset[str]:
    if not source.is_python:
        return frozenset()
    found = set()
    for node in source.tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and _is_number(node.value):
                found.add(target.id)
    return frozenset(name for name in found if _FIGURE.fullmatch(name)) - _UNITS - _NOT_FIGURES


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Call) and last_name(node.func) == "timedelta"
