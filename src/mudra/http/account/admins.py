"""Requests and responses about an entity's admins, for members and for operators.

A member changes its own entity, an operator any. Each change is one use case
of identity and one `AdminOperation`, with its path on both sides.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Final, Generic, TypeVar

from msgspec import Meta, Struct, field

from mudra.http.request.fields import EMAIL_OR_NONE, Email, Name
from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.http.token.requests import EntityId
from mudra.identity.accounts.email_address import MAX_ADDRESS
from mudra.identity.accounts.refusals import ValueRefused
from mudra.identity.memberships.admins import (
    AddResult,
    AdminsChanged,
    EntityAdmins,
    Forbidden,
    HandOverResult,
    RemoveResult,
    Requester,
    add_admin,
    hand_over,
    remove_admin,
    set_contact,
)
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.unit_of_work import UnitOfWork

UserState = Annotated[str, Meta(extra_json_schema={"enum": ["invited", "active", "disabled"]})]
Warnings = Annotated[
    list[str],
    Meta(description="what needs an operator's attention, such as an entity without admin"),
]


class EntityRequest(Struct, frozen=True):
    """A request about one entity."""

    entity_id: EntityId = field(name="entityId")


class AdminRequest(EntityRequest, frozen=True):
    """Add an admin to an entity."""

    email: Email
    name: Name = ""


class AdminRemovalRequest(EntityRequest, frozen=True):
    """Remove an admin from an entity."""

    email: Email


class HandOverRequest(EntityRequest, frozen=True):
    """Replace the admin `leaving` (for a member: the caller) by `email`."""

    email: Email
    name: Name = ""
    leaving: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an email address",
            examples=["asha@finsight.example"],
            extra_json_schema=EMAIL_OR_NONE,
        ),
    ] = ""


class ContactRequest(EntityRequest, frozen=True):
    """Set the backup contact; an empty address removes it."""

    email: Annotated[
        str,
        Meta(
            max_length=MAX_ADDRESS,
            description="an email address, or empty",
            examples=["it-desk@finsight.example", ""],
            extra_json_schema=EMAIL_OR_NONE,
        ),
    ]


class AdminDetails(Struct, kw_only=True):
    """An admin of an entity."""

    user_id: str = field(name="userId")
    email: str
    name: str
    state: UserState
    since: DateTime


class AdminsResponse(ResponseBody, kw_only=True):
    """An entity's admins after the call."""

    entity_id: str = field(name="entityId")
    admins: list[AdminDetails]
    contact: str
    warnings: Warnings


def admins_response(outcome: EntityAdmins | Refusal) -> AdminsResponse | Refusal:
    """Return an entity's admins, or the refusal."""
    if isinstance(outcome, Refusal):
        return outcome
    alone = isinstance(outcome, AdminsChanged) and outcome.able == 0
    return AdminsResponse(
        entity_id=outcome.entity_id,
        admins=[
            AdminDetails(
                user_id=admin.user_id,
                email=admin.email,
                name=admin.name,
                state=admin.state.value,
                since=iso_ms(admin.since),
            )
            for admin in outcome.admins
        ],
        contact=outcome.contact,
        warnings=warnings_about([outcome.entity_id] if alone else []),
    )


def warnings_about(without_admin: Sequence[str]) -> list[str]:
    """Return a warning for each entity that has no admin who can act."""
    return [
        f"{entity_id} has no admin who can act: add one, or have the invited one set a password"
        for entity_id in without_admin
    ]


R = TypeVar("R", bound=EntityRequest)


class AdminOperation(Struct, Generic[R], frozen=True):
    """One change of an entity's admins: its request, its use case, its path on each side."""

    request_type: type[R]
    run: Callable[[UnitOfWork, Requester, R], Awaitable[EntityAdmins | Refusal]]
    member_path: str
    member_summary: str
    operator_path: str
    operator_summary: str


async def _add(work: UnitOfWork, by: Requester, request: AdminRequest) -> AddResult:
    return await add_admin(work, by, request.entity_id, request.email, request.name)


async def _remove(work: UnitOfWork, by: Requester, request: AdminRemovalRequest) -> RemoveResult:
    return await remove_admin(work, by, request.entity_id, request.email)


async def _hand_over(work: UnitOfWork, by: Requester, request: HandOverRequest) -> HandOverResult:
    return await hand_over(
        work, by, request.entity_id, request.leaving, request.email, request.name
    )


async def _set_contact(
    work: UnitOfWork, by: Requester, request: ContactRequest
) -> EntityAdmins | Forbidden | ValueRefused:
    return await set_contact(work, by, request.entity_id, request.email)


ADD_ADMIN: Final = AdminOperation(
    AdminRequest,
    _add,
    "/entity/admin/add",
    "Add an admin to the entity",
    "/members/admins/add",
    "Add an admin",
)
REMOVE_ADMIN: Final = AdminOperation(
    AdminRemovalRequest,
    _remove,
    "/entity/admin/remove",
    "Remove an admin of the entity",
    "/members/admins/remove",
    "Remove an admin",
)
HAND_OVER: Final = AdminOperation(
    HandOverRequest,
    _hand_over,
    "/entity/admin/handover",
    "Hand over your own admin role",
    "/members/admins/handover",
    "Replace an admin",
)
SET_CONTACT: Final = AdminOperation(
    ContactRequest,
    _set_contact,
    "/entity/contact/set",
    "Set the entity's backup contact",
    "/members/contact",
    "Set the backup contact",
)
