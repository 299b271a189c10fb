"""The declaration of a setting: its variable, its parser, and its text in the reference."""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """The variable, the parser and the explanation of one setting."""

    env: str
    parse: Callable[[str], object]
    allowed: str
    meaning: str
    secret: bool = False
    first: bool = False
    """Whether it is among the few to set before the first real call."""


def setting(  # one call reads as one row of the reference
    env: str,
    default: T,
    parse: Callable[[str], object],
    allowed: str,
    meaning: str,
    *,
    secret: bool = False,
    first: bool = False,
) -> T:
    """Declare a field of the settings; `env` is the variable's name without `MUDRA_`."""
    return dataclass_field(
        default=default,
        metadata={"setting": Setting(f"MUDRA_{env}", parse, allowed, meaning, secret, first)},
    )
