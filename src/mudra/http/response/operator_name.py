"""The actor of something that a member sees."""

from typing import Final

_OPERATOR: Final = "operator:"


def shown_to_members(actor: str) -> str:
    """Return an actor as members see it: an operator of the network has no name there."""
    return "the operator" if actor.startswith(_OPERATOR) else actor
