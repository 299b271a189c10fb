"""The duty to have a second factor, and what it means for the password grant. Pure."""

import enum


class FactorRoles(enum.StrEnum):
    """The roles whose sign-in to the console needs a second factor."""

    NONE = "none"
    OPERATORS = "operators"
    MEMBERS = "members"
    EVERYONE = "everyone"


class TokenFactor(enum.StrEnum):
    """The demand of `user/token/generate` on a person who has, or must have, a second factor."""

    PASSWORD = "password"  # noqa: S105  # the specification's call: username and password
    OTP = "otp"
    OFF = "off"


def is_required(roles: FactorRoles, *, operator: bool, admin: bool) -> bool:
    """Return whether a person of these roles must have a second factor."""
    match roles:
        case FactorRoles.NONE:
            return False
        case FactorRoles.OPERATORS:
            return operator
        case FactorRoles.MEMBERS:
            return admin
        case FactorRoles.EVERYONE:
            return operator or admin
