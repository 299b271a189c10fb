"""The settings in force, as operators see them."""

import enum
from dataclasses import dataclass


class Source(enum.StrEnum):
    """Where a setting came from."""

    DEFAULT = "default"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class SettingDetails:
    """One setting as people may see it: secrets show only whether they are set."""

    env: str
    value: str
    source: Source
    meaning: str
    allowed: str
