"""Refusals of a push that are not about its content."""

from mudra.shared.refusal import Refusal


class TooManyPushes(Refusal, frozen=True):
    """More pushes of one AA and tag than agents need, also while they catch up."""

    retry_after_s: int


class TooBusyForPushes(Refusal, frozen=True):
    """As many pushes are under way as this node takes at once."""

    retry_after_s: int


class NotYourMetrics(Refusal, frozen=True):
    """An AA reports for itself only."""

    caller: str
