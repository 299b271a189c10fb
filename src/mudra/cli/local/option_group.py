"""Options that several commands share, declared once as the fields of a dataclass."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_type_hints

P = ParamSpec("P")
G = TypeVar("G")
R = TypeVar("R")
_NONE: Final = Parameter.empty


def with_options(
    group: type[G],
) -> Callable[[Callable[Concatenate[G, P], R]], Callable[..., R]]:
    """Give a command the options of a group as its first parameter, one object.

    In the help they come after the arguments of the command, and before its own options.
    """
    names = [one.name for one in fields(group)]  # type: ignore[arg-type]  # a dataclass
    hints = get_type_hints(group, include_extras=True)
    options = [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=_NONE if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(group)  # type: ignore[arg-type]  # a dataclass
    ]

    def declare(command: Callable[Concatenate[G, P], R]) -> Callable[..., R]:
        _, *rest = signature(command).parameters.values()
        own = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in rest]
        first = [one for one in own if one.default is _NONE]
        last = [one for one in own if one.default is not _NONE]

        @functools.wraps(command)
        def run(**values: Any) -> R:
            typed = group(**{name: values.pop(name) for name in names})
            return command(typed, **values)  # type: ignore[call-arg]  # the rest, as Typer parsed it

        run.__signature__ = Signature([*first, *options, *last])  # type: ignore[attr-defined]  # inspect reads it
        run.__annotations__ = {one.name: one.annotation for one in (*first, *options, *last)}
        return run

    return declare
