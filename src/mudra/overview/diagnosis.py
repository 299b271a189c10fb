"""The results of the checks that `mudra doctor` makes."""

from msgspec import Struct


class Diagnosis(Struct, frozen=True):
    """The result of one check: whether it passed, and what to do when it did not."""

    name: str
    passed: bool
    text: str
