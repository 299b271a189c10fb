"""When a token is renewed, and what is kept between two requests. No I/O."""

import enum
import logging
from collections.abc import Callable

from mudra.client.errors import MudraClientError, UnexpectedAnswer
from mudra.client.grant import GraceWarning, Grant
from mudra.shared.secret_text import SecretText

_log = logging.getLogger("mudra.client")

PAUSE_SECONDS = 5.0
YOUNG_SECONDS = 30.0


class Need(enum.Enum):
    """What a caller for a token has to do first."""

    NOTHING = enum.auto()
    RENEW_IF_FREE = enum.auto()
    """The token is good, but due: one caller renews, the others go on."""
    WAIT_FOR_ONE = enum.auto()
    """There is no good token."""


class Renewal:
    """The state of one token source; times are seconds of one steady clock."""

    def __init__(self, on_warning: Callable[[GraceWarning], None] | None) -> None:
        self.secret: SecretText | None = None
        """The secret as last read; None when it has to be read anew."""
        self._on_warning = on_warning
        self._warned: GraceWarning | None = None
        self._grant: Grant | None = None
        self._error: MudraClientError | None = None
        self._not_before = float("-inf")

    def need(self, now: float) -> Need:
        """What to do; raises the last error while its pause lasts and no token is good."""
        if self._grant is None or now >= self._grant.ends_at:
            if self._error is not None and now < self._not_before:
                raise self._error
            return Need.WAIT_FOR_ONE
        if now >= self._grant.renew_at and now >= self._not_before:
            return Need.RENEW_IF_FREE
        return Need.NOTHING

    def good(self, now: float) -> SecretText | None:
        """The token in hand, unless its time is over."""
        grant = self._grant
        return grant.token if grant is not None and now < grant.ends_at else None

    def present(self, now: float, held: SecretText | None) -> SecretText:
        """The token in hand, else the one held a moment ago when another call is renewing it."""
        token = self.good(now) or held
        if token is None:
            raise UnexpectedAnswer(
                "the token's life was over before it could be used",
                "look at the delay between this program and the token service",
            )
        return token

    def succeeded(self, grant: Grant, secret: SecretText) -> None:
        """Keep what was granted for this secret, and pass a warning on once."""
        self._grant, self._error, self._not_before = grant, None, float("-inf")
        # In grace the next secret may already lie where this one was read.
        self.secret = secret if grant.warning is None else None
        if grant.warning is not None and grant.warning != self._warned:
            _log.warning("entity secret: %s", grant.warning.message)
            if self._on_warning is not None:
                self._on_warning(grant.warning)
        self._warned = grant.warning

    def failed(self, error: MudraClientError, now: float) -> None:
        """Wait before the next try: as long as the service asks, else 5 seconds."""
        self._error = error
        self._not_before = now + float(getattr(error, "retry_after", PAUSE_SECONDS))
        self.secret = None
        if self.good(now) is not None:
            _log.warning("token not renewed, the present one is used on: %s", error)

    def refused_elsewhere(self, token: str, now: float) -> None:
        """Drop the token that a peer refused, unless it is so young that the peer must be wrong."""
        grant = self._grant
        if (
            grant is not None
            and grant.token == SecretText(token)
            and now - grant.obtained_at >= YOUNG_SECONDS
        ):
            self._grant = None
