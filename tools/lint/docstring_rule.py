"""A package says what it owns and what it never does (ARCHITECTURE.md)."""

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
