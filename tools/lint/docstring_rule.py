"""Docstrings: a package says what it never does, a function begins with a verb."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source


def package_says_never(source: Source) -> Iterator[Fault]:
    """Refuse a package of src whose docstring is missing or sets no limit."""
    if not source.under("src/mudra/") or not source.path.endswith("/__init__.py"):
        return
    text = ast.get_docstring(source.tree)
    if text is None:
        yield Fault(source.path, 1, "a package needs a docstring: what it owns, what it never does")
    elif "never" not in text.lower():
        yield Fault(source.path, 1, "the package's docstring must say what it never does")


QUESTIONS = frozenset(
    {"How", "Tell", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"}
)


def docstring_begins_with_a_verb(source: Source) -> Iterator[Fault]:
    """Refuse the docstring of a function that begins like a question."""
    if not source.is_python or not source.under("src/mudra/"):
        return
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition(" ")[0]
            if first in QUESTIONS:
                sentence = f"{node.name}: begin with a verb (Return, Issue, …), not {first!r}"
                yield Fault(source.path, node.lineno, sentence)
