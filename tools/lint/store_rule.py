"""A store lies next to the rules of its area; the name of its file ends in `_store`.

Only a store has SQL. A rule knows no store: neither a file that is named `_rule`, nor one whose
values a store returns.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from tools.lint.source import Fault, Source

AREAS = ("audit", "comparison", "identity", "metrics", "overview", "registry", "tokens")
SQL = ("sqlalchemy", "psycopg", "mudra.storage.tables")
_ROOT = "src/mudra/"


def stores_apart_from_rules(sources: Sequence[Source]) -> Iterator[Fault]:
    """Refuse SQL outside stores, and a store in a file of rules."""
    folders = tuple(f"{_ROOT}{area}/" for area in AREAS)
    files = {_module(one): one for one in sources if one.is_python and one.under(*folders)}
    stores = {name for name in files if name.endswith("_store")}
    rules = {name for name in files if name.endswith("_rule")}
    for store in stores:
        rules |= {_file_of(name, files) for name, _ in _imported(files[store])}
    for name in sorted(files):
        for imported, node in _imported(files[name]):
            if name not in stores and _is_under(imported, SQL):
                yield files[name].fault(
                    node, f"{imported}: only a file that is named …_store.py has SQL"
                )
            if name in rules - stores and (
                _file_of(imported, files) in stores or _is_under(imported, ("mudra.storage",))
            ):
                yield files[name].fault(
                    node, f"{imported}: a file of rules imports no store; give it what it needs"
                )


def _module(source: Source) -> str:
    return source.path.removeprefix("src/").removesuffix(".py").replace("/", ".")


def _imported(source: Source) -> Iterator[tuple[str, ast.AST]]:
    """Yields what a file imports when it is loaded: not for type checkers, not in functions."""
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node


def _file_of(imported: str, files: Mapping[str, Source]) -> str:
    """Returns the file of an imported name."""
    return imported if imported in files else imported.rpartition(".")[0]


def _is_under(imported: str, packages: Sequence[str]) -> bool:
    return any(imported == one or imported.startswith(f"{one}.") for one in packages)
