"""Requests about accounts and admins, which the API and the console read alike."""

from typing import Annotated, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.request.fields import EMAIL_OR_NONE, PLAIN_LINE, Email, EntityId, Name, Username
from mudra.identity.accounts.email_address import MAX_ADDRESS, MAX_NAME
from mudra.identity.memberships.admins import (
    AddResult,
    EntityAdmins,
    RemoveResult,
    Requester,
    add_admin,
    remove_admin,
)
from mudra.identity.memberships.contact import ContactResult, set_contact
from mudra.identity.memberships.hand_over import (
    HandOverResult,
    SendAgainResult,
    hand_over,
    send_again,
)
from mudra.identity.memberships.invitation import Invitee
from mudra.identity.memberships.member import Role
from mudra.identity.memberships.onboard import NewMember
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction


class UserTokenRequest(Struct, frozen=True):
    """Form of POST /user/token/generate (spec 4.1)."""

    username: Username
    password: Annotated[
        SecretText,
        Meta(
            description="the user's password, 1 to 1024 characters",
            examples=["try-me-in-the-sandbox"],
        ),
    ]
    otp: Annotated[
        SecretText | None,
        Meta(
            description="a code of the second factor, or a recovery code; if the operator asks so",
        ),
    ] = None


class PasswordSetRequest(Struct, frozen=True):
    """JSON of POST /user/password/set."""

    token: Annotated[
        SecretText,
        Meta(
            description="the last part of the link in the mail",
            examples=["d0JmX2s3cVh5TzZ1cEw4ZUs5bWdBMXpSN2NJdFdYYk4"],
        ),
    ]
    password: Annotated[
        SecretText,
        Meta(
            description="a password of 15 to 256 characters",
            examples=["granite otter velvet lamp"],
        ),
    ]


class LinkConfirmRequest(Struct, frozen=True):
    """JSON of POST /user/link/confirm and /user/link/decline."""

    token: Annotated[
        SecretText,
        Meta(
            description="the last part of the link in the mail",
            examples=["d0JmX2s3cVh5TzZ1cEw4ZUs5bWdBMXpSN2NJdFdYYk4"],
        ),
    ]


class PasswordForgotRequest(Struct, frozen=True):
    """JSON of POST /user/password/forgot."""

    username: Username


class EntityRequest(Struct, frozen=True):
    """A request about one entity."""

    entity_id: EntityId = field(name="entityId")


class AdminChangeRequest(EntityRequest, frozen=True):
    """Base of requests that change an entity's admins or its contact."""

    async def run(self, tx: Transaction, requester: Requester) -> EntityAdmins | Refusal:
        """Call the use case of this request."""
        raise NotImplementedError


R = TypeVar("R", bound=AdminChangeRequest)


class AdminRequest(AdminChangeRequest, frozen=True):
    """Add an admin or a reader to an entity."""

    email: Email
    name: Name = ""
    role: Annotated[
        Literal["admin", "reader"],
        Meta(description="admin, or reader: who sees the entity's pages and changes nothing"),
    ] = "admin"

    async def run(self, tx: Transaction, requester: Requester) -> AddResult:
        """Add the person."""
        invitee = Invitee(self.email, self.name, role=Role(self.role))
        return await add_admin(tx, requester, self.entity_id, invitee)


class AdminRemovalRequest(AdminChangeRequest, frozen=True):
    """Remove an admin from an entity."""

    email: Email

    async def run(self, tx: Transaction, requester: Requester) -> RemoveResult:
        """Remove the admin."""
        return await remove_admin(tx, requester, self.entity_id, self.email)


class SendAgainRequest(AdminChangeRequest, frozen=True):
    """Send the pending invitation to `email` again, with a new link."""

    email: Email

    async def run(self, tx: Transaction, requester: Requester) -> SendAgainResult:
        """Send the invitation again."""
        return await send_again(tx, requester, self.entity_id, self.email)


class OwnHandOverRequest(AdminChangeRequest, frozen=True):
    """Let `email` take the place of the caller."""

    email: Email
    name: Name = ""

    async def run(self, tx: Transaction, requester: Requester) -> HandOverResult:
        """Invite the successor."""
        return await hand_over(tx, requester, self.entity_id, "", self.email, self.name)


class HandOverRequest(OwnHandOverRequest, frozen=True):
    """Let `email` take the place of the admin `leaving`."""

    leaving: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an email address",
            examples=["lakshmi@kaveribank.example"],
            extra_json_schema=EMAIL_OR_NONE,
        ),
    ] = ""

    async def run(self, tx: Transaction, requester: Requester) -> HandOverResult:
        """Replace the admin."""
        return await hand_over(tx, requester, self.entity_id, self.leaving, self.email, self.name)


class ContactRequest(AdminChangeRequest, frozen=True):
    """Set the backup contact; an empty value removes it, and without `phone` it stays."""

    email: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an email address, or empty",
            examples=["noc@kaveribank.example", ""],
            extra_json_schema=EMAIL_OR_NONE,
        ),
    ]
    phone: (
        Annotated[
            str,
            Meta(
                max_length=32,
                description="a telephone number that is answered day and night, or empty",
                examples=["+91 22 5550 0107", ""],
                extra_json_schema={"pattern": r"^(\+?[0-9][0-9 ()./-]{3,30})?$"},
            ),
        ]
        | UnsetType
    ) = UNSET

    async def run(self, tx: Transaction, requester: Requester) -> ContactResult:
        """Set the contact."""
        phone = self.phone if isinstance(self.phone, str) else None
        return await set_contact(tx, requester, self.entity_id, self.email, phone)


class OnboardRequest(Struct, frozen=True):
    """Onboard a member with one designated admin (spec 1.2)."""

    entity_id: Annotated[EntityId, Meta(examples=["GODAVARI-FIU"])] = field(name="entityId")
    type: Annotated[
        Literal["FIP", "FIU", "AA"], Meta(description="FIP, FIU or AA", examples=["FIU"])
    ]
    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_NAME,
            description=f"a name of 1 to {MAX_NAME} characters",
            examples=["Godavari Finance"],
            extra_json_schema=PLAIN_LINE,
        ),
    ]
    admin_email: Annotated[Email, Meta(examples=["neha@godavari.example"])] = field(
        name="adminEmail"
    )
    admin_name: Annotated[Name, Meta(examples=["Neha Kulkarni"])] = field(
        name="adminName", default=""
    )

    def new_member(self) -> NewMember:
        """Return the member to onboard."""
        return NewMember(self.entity_id, self.type, self.name, self.admin_email, self.admin_name)


class StatusRequest(Struct, frozen=True):
    """Suspend, restore or retire an entity."""

    status: Annotated[
        Literal["active", "suspended", "retired"],
        Meta(description="active, suspended or retired", examples=["suspended"]),
    ]
    reason: Annotated[
        str, Meta(min_length=1, max_length=200, description="a reason of 1 to 200 characters")
    ]
