"""The environment of a program that a process of Mudra starts."""

from collections.abc import Mapping
from typing import Final

_SETTINGS: Final = "MUDRA_"


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out Mudra's settings: master key and passwords are among them."""
    return {name: value for name, value in environment.items() if not name.startswith(_SETTINGS)}
