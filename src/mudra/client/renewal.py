"""When a token is renewed, and the state between two requests. No I/O."""

import enum
import logging
from collections.abc import Callable

from mudra.client.errors import MudraClientError, UnexpectedResponse, pause_after
from mudra.client.grant import GraceWarning, Grant
from mudra.shared.secret_text import SecretText

_log = logging.getLogger("mudra.client")

MAX_PAUSE_SECONDS = 60.0
"""A proxy may ask for an hour, and the token service be back after minutes."""
MIN_AGE_SECONDS = 30.0
"""A token younger than this is not renewed because a peer refused it."""


class RenewalNeed(enum.Enum):
    """The first step of a caller for a token."""

    NONE = enum.auto()
    DUE = enum.auto()
    """The token is valid, but due: one caller renews it, the others continue to use it."""
    REQUIRED = enum.auto()
    """There is no valid token."""


class Renewal:
    """The state of one token source; times are seconds of one monotonic clock."""

    def __init__(self, on_warning: Callable[[GraceWarning], None] | None) -> None:
        self.secret: SecretText | None = None
        """The secret as last read; None when it has to be read again."""
        self.warning: GraceWarning | None = None
        """Set while the secret in use is in its grace period."""
        self.error: MudraClientError | None = None
        """Why the last renewal failed; None after a success."""
        self._on_warning = on_warning
        self._grant: Grant | None = None
        self._refused: SecretText | None = None
        """A token that a peer refused: in use until there is another, since others accept it."""
        self._not_before = float("-inf")

    def need(self, now: float) -> RenewalNeed:
        """Return what to do; raises the last error while its pause lasts and no token is valid."""
        grant, error = self._grant, self.error  # other threads replace them meanwhile
        if grant is None or now >= grant.ends_at:
            if error is not None and now < self._not_before:
                raise error
            return RenewalNeed.REQUIRED
        is_due = now >= grant.renew_at or grant.token == self._refused
        return RenewalNeed.DUE if is_due and now >= self._not_before else RenewalNeed.NONE

    def valid_token(self, now: float) -> SecretText | None:
        """Return the current token, unless it has expired."""
        grant = self._grant
        return grant.token if grant is not None and now < grant.ends_at else None

    def token_to_use(self, now: float, previous: SecretText | None) -> SecretText:
        """Return the current token, else the previous one while another call renews it."""
        token = self.valid_token(now) or previous
        if token is None:
            raise UnexpectedResponse(
                "the token expired before it could be used",
                "check the delay between this program and the token service",
            )
        return token

    def succeeded(self, grant: Grant, secret: SecretText) -> None:
        """Store what was granted for this secret, and report a warning once."""
        self._grant, self.error, self._not_before = grant, None, float("-inf")
        # In the grace period the next secret may already be where this one was read.
        self.secret = secret if grant.warning is None else None
        if grant.warning is not None and grant.warning != self.warning:
            _log.warning("entity secret: %s", grant.warning.message)
            if self._on_warning is not None:
                self._on_warning(grant.warning)
        self.warning = grant.warning

    def failed(self, error: MudraClientError, now: float) -> None:
        """Wait before the next try: as long as was asked for, a minute at most, else 5 seconds."""
        self.error = error
        self._not_before = now + min(pause_after(error), MAX_PAUSE_SECONDS)
        self.secret = None
        if self.valid_token(now) is not None:
            _log.warning("token not renewed, the current one stays in use: %s", error)

    def token_was_refused(self, token: str, now: float) -> None:
        """Make the token due that a peer refused, unless it is so young that the peer is wrong."""
        grant = self._grant
        if (
            grant is not None
            and grant.token == SecretText(token)
            and now - grant.obtained_at >= MIN_AGE_SECONDS
        ):
            self._refused = grant.token
