"""Types of fields that several requests have, and how an error text describes each."""

from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct
from msgspec.structs import asdict

from mudra.identity.accounts.email_address import MAX_ADDRESS, MAX_NAME

# A day that the calendar has; the document says it too, so that no client sends another.
DAY: Final = (
    r"([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-8]))|[0-9]{2}(0[48]|[2468][048]|[13579][26])-02-29)"
)
MINUTE: Final = r"([01][0-9]|2[0-3]):[0-5][0-9]"
SECOND: Final = r":([0-5][0-9]|60)(\.[0-9]{1,9})?"
LATER_DAY: Final = "2030-01-31"
"""A day to come, of samples: what is planned for it is accepted as it is printed."""
LATER_BEGIN: Final = f"{LATER_DAY}T20:30:00.000Z"
LATER_END: Final = f"{LATER_DAY}T22:30:00.000Z"
EntityId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9@._-]+\Z",
        description="an entity ID: 1 to 64 characters out of letters, digits, @ . _ -",
        examples=["KAVERI-FIP"],
    ),
]
Username = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=254,
        description="an email address, 1 to 254 characters",
        examples=["lakshmi@kaveribank.example"],
    ),
]
Email = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=MAX_ADDRESS,
        description="an email address",
        examples=["ravi@kaveribank.example"],
        extra_json_schema={"format": "email"},
    ),
]
EMAIL_OR_NONE: Final[dict[str, object]] = {"format": "email-or-empty"}
"""One type and a format of our own: of a choice between two, generators make a class."""
PLAIN_LINE: Final[dict[str, object]] = {"format": "plain-line"}
"""No control characters, nothing that an email header or a link could be made of."""
Name = Annotated[
    str,
    Meta(
        max_length=MAX_NAME,
        description=f"a name of at most {MAX_NAME} characters",
        examples=["Ravi Iyer"],
        extra_json_schema=PLAIN_LINE,
    ),
]
SearchText = Annotated[str, Meta(max_length=100, description="a text of at most 100 characters")]
PageLimit = Annotated[
    str, Meta(pattern=r"^([1-9][0-9]{0,2}|1000)\Z", description="a whole number from 1 to 1000")
]
Instant = Annotated[
    datetime,
    Meta(tz=True, description="an ISO 8601 instant with its offset, as 2026-01-31T09:30:00Z"),
]
Flag = Annotated[str, Meta(pattern=r"^(true|false)\Z", description="true or false")]
UuidOrNone = Annotated[
    str, Meta(pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?\Z", description="a UUID")
]
EventNumber = Annotated[str, Meta(pattern=r"^[0-9]{0,18}\Z", description="the number of an event")]


class NoParameters(Struct, frozen=True):
    """A request without parameters: an empty query, or the body {}."""


def named(request: Struct) -> dict[str, Any]:
    """Return the fields that a request names, by attribute; those that it left out are unset."""
    return {name: one for name, one in asdict(request).items() if one is not UNSET}
