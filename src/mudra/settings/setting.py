"""How one setting is declared: its variable, its parser, and what the reference says of it."""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """How one setting is read and explained."""

    env: str
    parse: Callable[[str], object]
    allowed: str
    meaning: str
    secret: bool = False


def setting(  # one call reads as one row of the reference
    env: str,
    default: T,
    parse: Callable[[str], object],
    allowed: str,
    meaning: str,
    *,
    secret: bool = False,
) -> T:
    """Declare a field of the settings; `env` is the variable's name without `MUDRA_`."""
    return dataclass_field(
        default=default,
        metadata={"setting": Setting(f"MUDRA_{env}", parse, allowed, meaning, secret)},
    )
