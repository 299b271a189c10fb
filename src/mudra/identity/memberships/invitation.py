"""Invitations by which an entity's admin asks someone to become one too. Pure.

Nothing about an invitation depends on whether the person has an account: the email is the same,
and the person becomes an admin by accepting it. A name of letters is all that the inviter can
write into it, so that it carries no message of its own.
"""

import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.email_address import NameRefused
from mudra.identity.memberships.member import Role
from mudra.shared.refusal import WAIT_TEXT, LimitedUntil

MAX_INVITATIONS: Final = 10
PERIOD: Final = timedelta(hours=24)
MAX_INVITED_NAME: Final = 64
_SIGNS: Final = frozenset(" .'-\u2019\u200c\u200d")
_MARKS: Final = frozenset({"Mn", "Mc"})


class Invitee(Struct, frozen=True):
    """The invited person, as an admin typed it.

    `takes_over` is the user ID of the admin who hands over its role, or empty.
    """

    email: str
    name: str
    takes_over: str = ""
    role: Role = Role.ADMIN


class Invitation(Struct, frozen=True):
    """An invitation; `ended_at` is set when it was accepted, replaced or withdrawn.

    By accepting one that `takes_over`, the admin with that user ID loses its role.
    """

    invitation_id: str
    entity_id: str
    entity_name: str
    email: str
    name: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    token_hash: bytes
    ended_at: datetime | None = None
    accepted: bool = False
    takes_over: str = ""
    role: Role = Role.ADMIN


class TooManyInvitations(LimitedUntil, frozen=True):
    """The entity has sent as many invitations as 24 hours permit."""

    sentence = f"an entity sends at most {MAX_INVITATIONS} invitations in 24 hours; {WAIT_TEXT}"


def may_invite(sent: Sequence[datetime], now: datetime) -> TooManyInvitations | None:
    """Return the refusal when 10 invitations were sent in the last 24 hours."""
    recent = sorted(min(at, now) for at in sent if at > now - PERIOD)
    if len(recent) < MAX_INVITATIONS:
        return None
    return TooManyInvitations(recent[-MAX_INVITATIONS] + PERIOD, now)


def invited_name(typed: str) -> str | NameRefused:
    """Return the name that an invitation shows; empty for none.

    At most 64 letters, spaces, hyphens, apostrophes, and full stops after initials: no digits,
    no markup, and nothing that a mail program would make a link of.
    """
    refused = NameRefused(
        f"must be at most {MAX_INVITED_NAME} letters, with spaces, hyphens and initials"
    )
    if len(typed) > 4 * MAX_INVITED_NAME:
        return refused
    name = " ".join(unicodedata.normalize("NFC", typed).split(" ")).strip(" ")
    if len(name) > MAX_INVITED_NAME or not all(_is_of_a_name(char) for char in name):
        return refused
    if name and not any(char.isalpha() for char in name):
        return refused
    return refused if _looks_like_a_link(name) else name


def _is_of_a_name(char: str) -> bool:
    return char.isalpha() or char in _SIGNS or unicodedata.category(char) in _MARKS


def _looks_like_a_link(name: str) -> bool:
    """Return whether a full stop joins two words, as in `evil.example`; initials may be joined."""
    for word in name.split(" "):
        parts = [part for part in word.split(".") if part]
        if len(parts) > 1 and max(map(len, parts[:-1])) > 1:
            return True
        if len(parts) > 1 and len(parts[-1]) > 1 and parts[-1][0].islower():
            return True
    return False
