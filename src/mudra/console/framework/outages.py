"""The reasons for which a page cannot be made now, in the reader's language.

The sentences are those of `mudra.shared.unavailable`, which knows no language.
"""

from typing import Final

from mudra.http.response.http_refusals import Unavailable
from mudra.localization.language import gettext, translatable

SENTENCES: Final = frozenset(
    (
        translatable("the service cannot reach its database"),
        translatable("the service's database did not answer in time"),
        translatable("the service's database is read-only"),
        translatable("the service's database is a standby, which takes no changes"),
        translatable("the service's database was replaced by another primary"),
        translatable("the disk of the service's database is full"),
        translatable("all connections to the service's database are in use"),
        translatable("the service's database takes no more connections"),
        translatable("the service's database refuses its sign-in"),
        translatable("the schema of the service's database is that of another release"),
        translatable("the clock of this node is wrong"),
        translatable("this node has not all versions of the master key"),
        translatable("no signing key can be used yet"),
        translatable("this node is stopping"),
        translatable("this node is too busy"),
        translatable(
            "stored metrics of this time are damaged, until the operator has repaired them"
        ),
    )
)
"""Each outage; a sentence with a number stays in English."""


def outage_text(refusal: Unavailable) -> str:
    """Return what a page says of it."""
    if refusal.why not in SENTENCES:
        return refusal.sentence
    return gettext("%(outage)s; try again", outage=gettext(refusal.why))
