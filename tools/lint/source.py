"""A file as a rule reads it, and the fault that a rule finds."""

import ast
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """One breach: where, and what to do instead."""

    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


@dataclass(frozen=True)
class Source:
    """One tracked file; `path` is relative to the root of the repository."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file; only for those that end in `.py`."""
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree: each rule looks at them, and to find them takes longest."""
        return tuple(ast.walk(self.tree))

    @property
    def is_python(self) -> bool:
        """Returns whether rules over syntax apply."""
        return self.path.endswith(".py")

    def under(self, *folders: str) -> bool:
        """Returns whether the file lies in one of these folders (`src/`, with the slash)."""
        return self.path.startswith(folders)

    def fault(self, node: ast.AST, sentence: str) -> Fault:
        """A breach at this node."""
        return Fault(self.path, getattr(node, "lineno", 1), sentence)


Rule = Callable[[Source], Iterator[Fault]]


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of names, else the last names of it: `.commit` of `f().commit`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def last_name(node: ast.expr) -> str:
    """`c` of `a.b.c`, also when `a.b` is a call."""
    return dotted(node).rpartition(".")[2]


def tracked(root: Path) -> Iterator[Source]:
    """Yields every text file that git tracks or would track."""
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
