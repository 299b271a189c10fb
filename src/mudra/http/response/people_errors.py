"""The rows of the table of errors (errors.py) that are about people and their accounts."""

from collections.abc import Callable, Mapping
from typing import Final

from mudra.http.response.problem import (
    WAIT_TEXT,
    ErrorCode,
    Problem,
    busy,
    conflict,
    error_row,
    invalid,
    not_found,
    rate_limited,
    retry_after,
    unauthorized,
)
from mudra.identity.accounts.change_address import NeedsSecondOperator, NoAddressChange
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.accounts.password_rules import PasswordRefusal
from mudra.identity.accounts.refusals import (
    AddressTaken,
    NoSuchUser,
    ValueRefused,
    WrongAccountKind,
)
from mudra.identity.accounts.send_link import TooManyLinkRequests
from mudra.identity.memberships.admins import (
    LastAdmin,
    NoSuchEntity,
    NotAnAdmin,
)
from mudra.identity.memberships.bulk_act import (
    MAX_MEMBERS,
    AlreadySuspended,
    NoAdminInvited,
    TooManyMembers,
)
from mudra.identity.memberships.contact import MAX_CONTACTS, TooManyContacts
from mudra.identity.memberships.hand_over import NoInvitation
from mudra.identity.memberships.invitation import MAX_INVITATIONS, TooManyInvitations
from mudra.identity.memberships.member_file import FileRefused
from mudra.identity.memberships.member_status import AlreadyRetired, EntryNotLive
from mudra.identity.memberships.onboard import MemberDiffers
from mudra.identity.operators.operator import NoOperator, OwnScopes, ScopeMissing, ScopeNotHeld
from mudra.identity.operators.person_rule import LastOperator, OwnAccount, PersonHoldsMore
from mudra.identity.passkeys.check_passkey import PasskeyRefused
from mudra.identity.passkeys.manage_passkeys import (
    MAX_NAME,
    MAX_PASSKEYS,
    PasskeyNameRefused,
    PasskeysOff,
    TooManyPasskeys,
)
from mudra.identity.ports import HashingBusy
from mudra.identity.second_factor.after_password import CodeMissing, EnrollFirst, TokensOff
from mudra.identity.second_factor.check_code import CodeRefused
from mudra.identity.second_factor.enroll import FactorRequired, NoSecondFactor, SetUpEnded
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts
from mudra.identity.single_sign_on.claims import SignOnRefused
from mudra.identity.single_sign_on.local_sign_in import LocalSignInOff
from mudra.identity.single_sign_on.ports import ProviderFailed
from mudra.localization.language import translatable
from mudra.shared.refusal import Refusal

_WRONG_PASSWORD: Final = translatable("username or password is wrong, or the account is not active")
_TOO_MANY: Final = translatable("too many sign-in attempts with this username or from this address")
_LINK_TEXTS: Final[Mapping[LinkFault, str]] = {
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

_PROVIDER_WAIT_S: Final = 10
_NO_SIGN_ON: Final = translatable("single sign-on did not sign you in: begin again")
_SIGN_ON_TEXTS: Final[Mapping[str, str]] = {
    "not-an-operator": translatable(
        "no operator here has the email address of your account at the provider"
    ),
    "no-scopes": translatable("your account at the provider has no group that gives rights here"),
    "no-scope-claim": translatable(
        "the provider did not send the groups that give rights here: ask who manages it"
    ),
    "account-disabled": translatable("your account here is disabled"),
    "email-not-verified": translatable("the provider did not verify your email address"),
}

PEOPLE_ROWS: Final[tuple[tuple[type[Refusal], Callable[[Refusal], Problem]], ...]] = (
    error_row(SignInRefused, lambda _: unauthorized(_WRONG_PASSWORD)),
    error_row(
        TooManyAttempts,
        lambda r: Problem(
            429,
            ErrorCode.TOO_MANY_ATTEMPTS,
            f"{_TOO_MANY}; {WAIT_TEXT}",
            retry_after(r.retry_at, r.now),
        ),
    ),
    error_row(
        CodeRefused,
        lambda _: unauthorized(
            translatable("the code is wrong or was used already: wait for the next one of your app")
        ),
    ),
    error_row(
        CodeMissing,
        lambda _: unauthorized("otp is missing: this account has a second factor"),
    ),
    error_row(
        TokensOff,
        lambda _: unauthorized("an account with a second factor gets no token by password here"),
    ),
    error_row(
        EnrollFirst,
        lambda _: unauthorized("this account needs a second factor: set it up in the console"),
    ),
    error_row(NoSecondFactor, lambda _: conflict(translatable("there is no such second factor"))),
    error_row(
        SetUpEnded,
        lambda _: conflict(
            translatable("this set-up has ended: begin again on the page of the second factor")
        ),
    ),
    error_row(
        PasskeyRefused,
        lambda _: unauthorized(
            translatable("the passkey was not accepted: try again, or use another one or a code")
        ),
    ),
    error_row(
        SignOnRefused,
        lambda r: unauthorized(_SIGN_ON_TEXTS.get(r.reason, _NO_SIGN_ON)),
    ),
    error_row(
        ProviderFailed,
        lambda _: busy(
            _PROVIDER_WAIT_S,
            translatable(
                "single sign-on could not be completed: try again, or ask an operator to look at "
                "the service's log"
            ),
        ),
    ),
    error_row(
        LocalSignInOff,
        lambda _: unauthorized(translatable("operators sign in by single sign-on here")),
    ),
    error_row(
        PasskeyNameRefused,
        lambda _: invalid(f"name must be 1 to {MAX_NAME} printable characters"),
    ),
    error_row(
        TooManyPasskeys,
        lambda _: conflict(f"you have {MAX_PASSKEYS} passkeys: remove one first"),
    ),
    error_row(
        PasskeysOff,
        lambda _: conflict(
            translatable("passkeys are off: the service's address is no host name with https")
        ),
    ),
    error_row(
        FactorRequired,
        lambda _: conflict(
            translatable("your role needs a second factor: replace it instead of removing it")
        ),
    ),
    error_row(
        HashingBusy,
        lambda r: busy(r.retry_after_s, translatable("too many sign-ins at once; try again")),
    ),
    error_row(PasswordRefusal, lambda r: invalid(r.sentence)),
    error_row(
        TooManyLinkRequests,
        lambda r: rate_limited(
            r.retry_after_s,
            f"too many links were requested from this network address; {WAIT_TEXT}",
        ),
    ),
    error_row(LinkRefused, lambda r: unauthorized(_LINK_TEXTS[r.fault])),
    error_row(
        ScopeMissing,
        lambda r: unauthorized(f"the token gives no operator right of the scope {r.scope.value}"),
    ),
    error_row(NoOperator, lambda _: unauthorized("the token gives no right of an operator")),
    error_row(
        ScopeNotHeld,
        lambda r: conflict(f"scopes: only holders of {r.scope.value} can grant or remove it"),
    ),
    error_row(OwnScopes, lambda _: conflict("scopes of your own account: ask another operator")),
    error_row(
        TooManyInvitations,
        lambda r: Problem(
            429,
            ErrorCode.TOO_MANY_ATTEMPTS,
            f"an entity sends at most {MAX_INVITATIONS} invitations in 24 hours; {WAIT_TEXT}",
            retry_after(r.retry_at, r.now),
        ),
    ),
    error_row(
        TooManyContacts,
        lambda r: Problem(
            429,
            ErrorCode.TOO_MANY_ATTEMPTS,
            f"the contact's email is changed at most {MAX_CONTACTS} times in 24 hours: "
            f"leave it empty, or ask the operator of the network; {WAIT_TEXT}",
            retry_after(r.retry_at, r.now),
        ),
    ),
    error_row(
        OwnAccount,
        lambda _: conflict("this is your own account: another operator must do this"),
    ),
    error_row(
        PersonHoldsMore,
        lambda r: unauthorized(
            f"this person holds the scope {r.scope.value}, which you do not hold"
        ),
    ),
    error_row(
        LastOperator,
        lambda _: conflict(
            "this is the last active operator with the scope members: "
            "give it to another operator first"
        ),
    ),
    error_row(
        NeedsSecondOperator,
        lambda _: conflict(
            "another operator, who has held the scope members for a day, must confirm this; "
            "or the link that was sent to the old address"
        ),
    ),
    error_row(
        NoAddressChange,
        lambda _: not_found("no change of this user to this email waits for confirmation"),
    ),
    error_row(ValueRefused, lambda r: invalid(f"{r.field} {r.problem}")),
    error_row(
        FileRefused,
        lambda r: invalid(f"the file{f', line {r.line},' if r.line else ''} {r.problem}"),
    ),
    error_row(NoSuchEntity, lambda r: not_found(f"no member has the entity ID {r.entity_id}")),
    error_row(
        AlreadyRetired,
        lambda r: conflict(f"{r.entity_id} is retired for good: onboard it under another ID"),
    ),
    error_row(
        AlreadySuspended,
        lambda r: conflict(f"{r.entity_id} is suspended already"),
    ),
    error_row(
        NoAdminInvited,
        lambda r: conflict(f"no admin of {r.entity_id} has an account that waits for activation"),
    ),
    error_row(
        TooManyMembers,
        lambda r: invalid(f"at most {MAX_MEMBERS} members at a time, not {r.chosen}"),
    ),
    error_row(
        EntryNotLive,
        lambda r: conflict(
            f"the registry entry of {r.entity_id} is {r.entry.value}: restore the entry first, "
            f"with mudra registry restore {r.entity_id}"
        ),
    ),
    error_row(NoSuchUser, lambda _: not_found("no user of this ID, or the account is disabled")),
    error_row(
        NoInvitation, lambda _: not_found("email has no invitation that waits to be accepted")
    ),
    error_row(NotAnAdmin, lambda _: not_found("email is no admin of this entity")),
    error_row(
        LastAdmin,
        lambda _: conflict(
            "email is the last admin who can act for entityId: add another one first"
        ),
    ),
    error_row(
        WrongAccountKind,
        lambda _: conflict(
            "email has an account of the other kind: operators and admins of entities "
            "use accounts of their own"
        ),
    ),
    error_row(AddressTaken, lambda _: conflict("email belongs to another account")),
    error_row(
        MemberDiffers,
        lambda r: conflict(
            f"{r.existing.entity_id} exists with another {r.field}: nothing was changed"
        ),
    ),
)
