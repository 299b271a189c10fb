"""Rows of the error table for people: admins, accounts, operators, mails."""

from mudra.http.auth.operator_access import NoOperator, ScopeMissing
from mudra.http.response.errors import ErrorCode, Problem, add_row, problem_of
from mudra.identity.accounts.account_service import AddressTaken, NoSuchUser
from mudra.identity.memberships.admins import (
    LastAdmin,
    NoSuchEntity,
    NotAnAdmin,
    RolesApart,
    ValueRefused,
)
from mudra.identity.memberships.member_status import EntryNotLive, RetiredForGood
from mudra.identity.memberships.memberships import OwnScopes, ScopeNotYours
from mudra.identity.memberships.onboard import MemberDiffers, OnboardRefused
from mudra.storage.mail.mail_queue import NoSuchMail

__all__ = ["problem_of"]


def _conflict(sentence: str) -> Problem:
    return Problem(409, ErrorCode.CONFLICT, sentence)


def _not_found(sentence: str) -> Problem:
    return Problem(404, ErrorCode.NOT_FOUND, sentence)


add_row(
    ScopeMissing,
    lambda r: Problem(
        401,
        ErrorCode.UNAUTHORIZED,
        f"the token gives no operator right of the scope {r.scope.value}",
    ),
)
add_row(
    NoOperator,
    lambda _: Problem(401, ErrorCode.UNAUTHORIZED, "the token gives no right of an operator"),
)
add_row(
    ScopeNotYours,
    lambda r: _conflict(f"scopes: {r.scope.value} can be given or taken by its holders only"),
)
add_row(OwnScopes, lambda _: _conflict("scopes of your own account: ask another operator"))
add_row(ValueRefused, lambda r: Problem(400, ErrorCode.INVALID_REQUEST, f"{r.field} {r.problem}"))
add_row(NoSuchEntity, lambda r: _not_found(f"no member has the entity ID {r.entity_id}"))
add_row(
    RetiredForGood,
    lambda r: _conflict(f"{r.entity_id} is retired for good: onboard it under another ID"),
)
add_row(
    EntryNotLive,
    lambda r: _conflict(
        f"the registry entry of {r.entity_id} is {r.entry.value}: restore the entry first, "
        f"with mudra registry restore {r.entity_id}"
    ),
)
add_row(NoSuchUser, lambda _: _not_found("no user of this ID, or the account is disabled"))
add_row(NotAnAdmin, lambda _: _not_found("email is no admin of this entity"))
add_row(
    LastAdmin,
    lambda _: _conflict("email is the last admin who can act for entityId: add another one first"),
)
add_row(
    RolesApart,
    lambda _: _conflict(
        "email has an account of the other kind: operators and admins of entities "
        "use accounts of their own"
    ),
)
add_row(AddressTaken, lambda _: _conflict("email belongs to another account"))
add_row(NoSuchMail, lambda _: _not_found("no unsent mail of this ID"))
add_row(OnboardRefused, lambda r: Problem(400, ErrorCode.INVALID_REQUEST, f"{r.field} {r.problem}"))
add_row(
    MemberDiffers,
    lambda r: _conflict(
        f"{r.existing.entity_id} exists with another {r.field}: nothing was changed"
    ),
)
