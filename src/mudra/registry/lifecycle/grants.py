"""The test whether two people decided: the pure rule (0189).

A right that another person gave is that person's hand for a day: an account made for the
purpose is no second person. An admin who was removed is that hand until the secret that they
read has ended. Rights that commands on the service's machine or single sign-on gave tie no one.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from mudra.identity.operators.person_rule import SECOND_OPERATOR_SINCE
from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.record import Record, Version

_MS: Final = dt.timedelta(milliseconds=1)


class Grant(Struct, frozen=True):
    """The person who gave someone a right, or the way into the account; persons are `user:ID`.

    `entity_id` is empty for the right of an operator. `knows_secret` is said of an admin who was
    removed, and read a secret of the entity that is still valid.
    """

    person: str
    by: str
    at: dt.datetime
    entity_id: str = ""
    knows_secret: bool = False


class Tie(Struct, frozen=True):
    """Two who submit and approve have a person in common; what is submitted later has none.

    `until` is None where that waits for a reset of the secret.
    """

    until: dt.datetime | None


def tied_since(version: Version) -> dt.datetime:
    """Return after which time a grant ties the one who submitted a version, or who approves it."""
    return version.submitted_at - SECOND_OPERATOR_SINCE


def tie(record: Record, version: Version, actor: Actor, grants: Sequence[Grant]) -> Tie | None:
    """Return what makes one person of those who submitted and who approves; None for nothing.

    `grants` are the operators' and the entity's since `tied_since`, and those of former admins
    who know a secret that is valid. Onboarding a member that has no entry is no grant: another
    rule has it (second_operator.py).
    """
    # Who got a right after a submission had no hand in it; that has whole milliseconds.
    before = [one for one in grants if one.at < version.submitted_at + _MS]
    submitters = hands(_submitters(record, version, before), before)
    approvers = hands([actor.person] if actor.person else [], grants)
    if not submitters & approvers:
        return None
    ties = [one for one in grants if one.person in submitters | approvers]
    if any(one.knows_secret for one in ties):
        return Tie(None)
    # Without a grant they are one person, whom another rule refuses.
    return Tie(max(one.at for one in ties) + SECOND_OPERATOR_SINCE) if ties else None


def _submitters(record: Record, version: Version, grants: Iterable[Grant]) -> list[str]:
    """Return who submitted: an entity does so by anyone who could read its secret."""
    if version.submitted_person:
        return [version.submitted_person]
    if version.submitted_by != f"entity:{record.entity_id}":
        return []
    return [one.person for one in grants if one.entity_id == record.entity_id]


def hands(persons: Iterable[str], grants: Iterable[Grant]) -> frozenset[str]:
    """Return these persons and those by whose grants they act, however many are between."""
    reached = frozenset(persons)
    more = reached
    while more:
        more = frozenset(one.by for one in grants if one.person in reached) - reached
        reached |= more
    return reached
