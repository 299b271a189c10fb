"""Reports of the commands that administer a node: checks, key rotation, settings."""

import enum
from dataclasses import dataclass

from msgspec import Struct


class Diagnosis(Struct, frozen=True):
    """The result of one check: whether it passed, and what to do when it did not."""

    name: str
    passed: bool
    text: str
    warns: bool = False
    """It passed, and the text says what should be done all the same."""


class Rewrapped(Struct, frozen=True):
    """`count` values were brought under `version`; no value is under another one."""

    version: int
    count: int


class Source(enum.StrEnum):
    """The source of a setting."""

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
