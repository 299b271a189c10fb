"""The base of every refusal: what a use case returns when it does not do what was asked."""

from msgspec import Struct


class Refusal(Struct, frozen=True):
    """Base of all refusals. They carry data, never HTTP.

    A use case returns a union of its success and its refusals, so that the type
    checker proves that an edge handles each. `http/response/errors.py` maps every
    refusal to a status, an `errorCode` and a text.
    """
