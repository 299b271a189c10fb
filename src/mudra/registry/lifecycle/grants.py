"""Whether two people decided, or one by the account that they gave someone: the pure rule (0189).

A right that another person gave is that person's hand for a day: an account made for the
purpose is no second person. Rights that commands on the service's machine or single sign-on
gave tie no one.
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
    """Who gave a person a right, or the way into the account; persons are `user:ID`.

    `entity_id` is empty for the right of an operator.
    """

    person: str
    by: str
    at: dt.datetime
    entity_id: str = ""


def tied_since(version: Version) -> dt.datetime:
    """Return after which time a grant ties the one who submitted a version, or who approves it."""
    return version.submitted_at - SECOND_OPERATOR_SINCE


def untied_at(
    record: Record, version: Version, actor: Actor, grants: Sequence[Grant]
) -> dt.datetime | None:
    """Return from when submissions will have two people behind them; None where this one has.

    `grants` are the operators' and the entity's since `tied_since`. Who onboards a member that
    has no entry gives no right in this sense, and so approves its first one.
    """
    # Who got a right after a submission had no hand in it; that has whole milliseconds.
    before = [one for one in grants if one.at < version.submitted_at + _MS]
    submitters = _hands(_submitters(record, version, before), before)
    approvers = _hands([actor.person] if actor.person else [], grants)
    if not submitters & approvers:
        return None
    ties = [one.at for one in grants if one.person in submitters | approvers]
    # Without a grant they are one person, whom another rule refuses.
    return max(ties) + SECOND_OPERATOR_SINCE if ties else None


def _submitters(record: Record, version: Version, grants: Iterable[Grant]) -> list[str]:
    """Return who submitted: an entity does so by anyone who could read its secret."""
    if version.submitted_person:
        return [version.submitted_person]
    if version.submitted_by != f"entity:{record.entity_id}":
        return []
    return [one.person for one in grants if one.entity_id == record.entity_id]


def _hands(persons: Iterable[str], grants: Iterable[Grant]) -> frozenset[str]:
    """Return these persons and those by whose grants they act, however many are between."""
    reached = frozenset(persons)
    more = reached
    while more:
        more = frozenset(one.by for one in grants if one.person in reached) - reached
        reached |= more
    return reached
