"""Exceptions of decoding JSON from outside: each is a body that is not what was agreed."""

from typing import Final

import msgspec

UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""A wrong form or type, bytes that are no UTF-8 (msgspec raises these as they are), or too deep."""
