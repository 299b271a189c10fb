"""What the console itself refuses, with the rows of the error table for it."""

from msgspec import Struct

from mudra.http.response.errors import ErrorCode, Problem, add_row


class ForeignForm(Struct, frozen=True):
    """The browser says that another site sent this form."""


class StaleForm(Struct, frozen=True):
    """The form lacks the session's word: it was opened before the last sign-in."""


class SecretMoved(Struct, frozen=True):
    """The form is about a secret that another reset has replaced since the page was opened."""

    version: int


class ProofTooOld(Struct, frozen=True):
    """The password was typed too long ago to show or change a secret, and none came along."""


class NoSuchPage(Struct, frozen=True):
    """There is no page at this address of the console."""


add_row(
    ForeignForm,
    lambda _: Problem(
        403, ErrorCode.UNAUTHORIZED, "this form was sent by another site; nothing was changed"
    ),
)
add_row(
    StaleForm,
    lambda _: Problem(
        403,
        ErrorCode.UNAUTHORIZED,
        "this form was opened before you last signed in, so nothing was changed; "
        "open the page again",
    ),
)
add_row(
    SecretMoved,
    lambda r: Problem(
        409,
        ErrorCode.CONFLICT,
        f"the secret was reset since this page was opened: version {r.version} is the current one; "
        "nothing was changed now",
    ),
)
add_row(
    ProofTooOld,
    lambda _: Problem(
        403,
        ErrorCode.UNAUTHORIZED,
        "type your password again, which was more than five minutes ago; "
        "nothing was shown or changed",
    ),
)
add_row(
    NoSuchPage,
    lambda _: Problem(404, ErrorCode.NOT_FOUND, "there is no page at this address"),
)
