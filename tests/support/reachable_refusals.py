"""The refusals that the code of a call can come to, found by reading it.

From its handler on through each function of ours that is named, and each method of the classes
that a function names, takes or is a method of. What only data decides is not seen, so that more
may be found than there is, and seldom less.
"""

import ast
import functools
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from mudra.shared.refusal import RefusalKind

OURS = "mudra."


class Reached(NamedTuple):
    """The names in the code of one function that lead to refusals."""

    refusals: Sequence[tuple[RefusalKind, str, object]]
    """With the name of each one's constant, class or function."""
    functions: Sequence[tuple[object, frozenset[type]]]
    """The functions that it may call, each with classes that are known where it is called."""


NOTHING: Final = Reached((), ())


def refusals_of(handler: object, kind: RefusalKind) -> dict[str, object]:
    """The refusals of a kind that a handler can come to, by name."""
    found: dict[str, object] = {}
    seen: set[types.FunctionType] = set()
    left: list[tuple[object, frozenset[type]]] = [(handler, frozenset())]
    while left:
        one, classes = left.pop()
        function = plain(one)
        if isinstance(function, types.FunctionType) and function not in seen:
            seen.add(function)
            reached = read(function, classes)
            found |= {name: value for of, name, value in reached.refusals if of is kind}
            left += reached.functions
    return found


@functools.cache
def read(function: types.FunctionType, given: frozenset[type]) -> Reached:
    """Reads what a function names, once for all calls that come to it.

    `given` are the classes whose methods it may call though it names none of them.
    """
    tree = tree_of(function)
    if tree is None:
        return NOTHING
    names, aside = names_of(function), not_made(tree)
    taken = frozenset(one for of in function.__annotations__.values() for one in named(of, names))
    classes = {*given, *taken}
    nodes = [*ast.walk(tree)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    refusals: list[tuple[RefusalKind, str, object]] = [
        (kind, function.__name__, function) for kind in RefusalKind if kind.name in attributes
    ]  # it makes plain refusals
    functions: list[tuple[object, frozenset[type]]] = []
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in aside and node.id in names:
            value = names[node.id]
            refusals += refusal(node.id, value)
            if isinstance(value, type) and is_ours(value):
                classes.add(value)
            elif isinstance(value, types.FunctionType) and is_ours(value):
                near = value.__module__ == function.__module__
                functions.append((value, taken if near else frozenset()))
            elif isinstance(value, types.ModuleType) and value.__name__.startswith(OURS):
                functions += (
                    (getattr(value, name, None), frozenset()) for name in sorted(attributes)
                )
    functions += (
        (inspect.getattr_static(one, name), of_fields(one) | {one})
        for one in sorted(classes, key=lambda one: (one.__module__, one.__qualname__))
        for name in sorted(attributes & {*dir(one)})
    )
    return Reached(refusals, functions)


def refusal(name: str, value: object) -> Iterator[tuple[RefusalKind, str, object]]:
    """The value with its kind, if it is a refusal."""
    kind = getattr(value, "kind", None)
    if isinstance(kind, RefusalKind) and "sentence" in dir(value):
        yield kind, value.__name__ if isinstance(value, type) else name, value


def not_made(tree: ast.AST) -> set[int]:
    """Nodes that name a class without making one: types, and what a value is compared with."""
    aside: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = (*node.args.args, *node.args.kwonlyargs)
            kinds = (node.returns, *(one.annotation for one in arguments))
            aside += [*node.decorator_list, *(kind for kind in kinds if kind is not None)]
        elif isinstance(node, ast.MatchClass):
            aside.append(node.cls)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            aside.append(node)
    return {id(inner) for one in aside for inner in ast.walk(one)}


def names_of(function: types.FunctionType) -> dict[str, Any]:
    """The values of names in a function: of its module, and of the function around it."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        names[name] = cell.cell_contents
    return names


@functools.cache
def tree_of(function: types.FunctionType) -> ast.AST | None:
    if not is_ours(function):
        return None
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # made by a library, or a part of an expression
        return None


def plain(value: object) -> object:
    """The function of a property, a bound method, a partial or a decorated function."""
    for name in ("fget", "__func__", "func", "__wrapped__"):
        inner = getattr(value, name, None)
        if inner is not None:
            return plain(inner)
    return value


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith(OURS)


def named(kind: object, names: dict[str, Any], depth: int = 0) -> Iterator[type]:
    """The classes of ours that a type names."""
    if isinstance(kind, str):
        try:
            kind = eval(kind, names)  # our own annotations
        except NameError:  # of the type checker alone
            return
    if isinstance(kind, type) and is_ours(kind):
        yield kind
    if depth < 6:
        for inner in typing.get_args(kind):
            if not isinstance(inner, str):
                yield from named(inner, names, depth + 1)


@functools.cache
def of_fields(owner: type) -> frozenset[type]:
    """The classes of the fields of a class: what its methods may call."""
    return frozenset(
        one
        for base in owner.__mro__
        if is_ours(base)
        for kind in vars(base).get("__annotations__", {}).values()
        for one in named(kind, vars(sys.modules[base.__module__]))
    )
