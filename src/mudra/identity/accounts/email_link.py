"""One-use links that are sent by email. Pure.

The link holds 256 random bits; only their hash is stored. A newer link voids
the older ones.
"""

import base64
import enum
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.secret_text import SecretText

_TOKEN_BYTES: Final = 32
_LIFE_HOURS: Final = {"invite": 24, "password-reset": 1, "address": 24}


class LinkRequest(Struct, frozen=True):
    """A "forgot password" as it was typed, whether or not the name is known."""

    username: str
    address: str
    txn_id: str


class LinkPurpose(enum.StrEnum):
    """The purpose of a link."""

    INVITE = "invite"
    PASSWORD_RESET = "password-reset"  # noqa: S105  # not a password
    ADDRESS = "address"

    @property
    def life(self) -> timedelta:
        """Return how long a link of this purpose is valid."""
        return timedelta(hours=_LIFE_HOURS[self.value])


class LinkRecord(Struct, frozen=True):
    """A link as it is stored, bound to a user, a purpose and an address."""

    token_hash: bytes
    user_id: str
    purpose: LinkPurpose
    address: str
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    voided_at: datetime | None = None


class LinkFault(enum.Enum):
    """The reason for which a link is not accepted; shown only to someone who has that link."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED = "used"
    VOIDED = "voided"
    WITHDRAWN = "withdrawn"
    """Withdrawn by an admin, or declined by the person invited."""


_TEXTS: Final[Mapping[LinkFault, str]] = {
    LinkFault.UNKNOWN: "token is not a valid link; request a new one with 'forgot password'",
    LinkFault.EXPIRED: "token has expired; request a new link with 'forgot password'",
    LinkFault.USED: "token was already used; request a new link with 'forgot password'",
    LinkFault.VOIDED: (
        "token was replaced by a newer link or ended by a change of password; use the latest email"
        " or ask for a new link"
    ),
    LinkFault.WITHDRAWN: (
        "token's invitation was withdrawn or declined; ask an admin of the entity for another"
    ),
}


class LinkRefused(Refusal, frozen=True):
    """The link is not accepted."""

    kind = RefusalKind.UNAUTHORIZED
    fault: LinkFault

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return _TEXTS[self.fault]


def new_link(
    random_bytes: Callable[[int], bytes],
    *,
    user_id: str,
    address: str,
    purpose: LinkPurpose,
    now: datetime,
) -> tuple[SecretText, LinkRecord]:
    """Make a link: the token that goes into the email, and what is stored."""
    raw = random_bytes(_TOKEN_BYTES)
    token = SecretText(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())
    record = LinkRecord(token_hash(token), user_id, purpose, address, now, now + purpose.life)
    return token, record


class LinkFactory(Struct, frozen=True):
    """Makes links to the activation page.

    `page` is the page's address and comes from settings only: a Host header
    never reaches an email.
    """

    random_bytes: Callable[[int], bytes]
    page: str

    def create(
        self, *, user_id: str, address: str, purpose: LinkPurpose, now: datetime
    ) -> tuple[SecretText, LinkRecord]:
        """Make a link: its whole address, and what is stored."""
        token, record = new_link(
            self.random_bytes, user_id=user_id, address=address, purpose=purpose, now=now
        )
        return SecretText(f"{self.page}/{token.reveal()}"), record


def token_hash(token: SecretText) -> bytes:
    """Hash a link's token: fast, since it is 256 random bits."""
    return hashlib.sha256(token.reveal().encode()).digest()


def check_link(record: LinkRecord | None, now: datetime) -> LinkRecord | LinkRefused:
    """Return the link when it may be used at `now`."""
    if record is None:
        return LinkRefused(LinkFault.UNKNOWN)
    if record.used_at is not None:
        return LinkRefused(LinkFault.USED)
    if record.voided_at is not None:
        return LinkRefused(LinkFault.VOIDED)
    if now >= record.expires_at:
        return LinkRefused(LinkFault.EXPIRED)
    return record
