"""Which acts are written to the second place, where there are more than fit."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from tests.support.audit.audit_rows import NOON

from mudra.audit.acts import RECORDED, Act, Acts, acts_to_write
from mudra.audit.audit_chain import AuditChain
from mudra.audit.chain import Checkpoint
from mudra.audit.event import EventName
from mudra.audit.proof.lost_acts import lost_acts

MAX_ACTS = 200


def act(row_id: int, event: EventName) -> Act:
    return Act(row_id, NOON, event.value, "", "operator:olga")


def test_what_takes_away_a_way_in_is_recorded() -> None:
    assert {
        EventName.KEYS_SIGNING_DROP,
        EventName.USER_FACTOR_REMOVE,
        EventName.USER_FACTOR_ADD,
        EventName.USER_RECOVERY_RENEW,
        EventName.ENTITY_ADDRESSES_CHANGE,
        EventName.REGISTRY_ENTRY_APPROVE,
        EventName.REGISTRY_ENTRY_SUSPEND,
    } <= set(RECORDED)
    assert len(set(RECORDED)) == len(RECORDED)


def test_acts_that_fit_are_all_written_in_their_order() -> None:
    found = [act(number, RECORDED[-number % len(RECORDED)]) for number in range(MAX_ACTS)]

    written = acts_to_write(found)

    assert (list(written.listed), written.more) == (found, 0)


def test_a_dropped_key_is_written_though_hundreds_of_entries_were_imported_before_it() -> None:
    imported = [act(number, EventName.REGISTRY_ENTRY_APPROVE) for number in range(600)]
    revoked = act(600, EventName.ENTITY_TOKEN_REVOKE)
    dropped = act(601, EventName.KEYS_SIGNING_DROP)

    written = acts_to_write([*imported, revoked, dropped])

    assert list(written.listed) == [*imported[: MAX_ACTS - 2], revoked, dropped]
    assert written.more == 402


class _Restored:
    """A chain in memory whose every checkpoint but those of the second place is gone."""

    def __init__(self, *witnessed: Act) -> None:
        self._witnessed = witnessed

    async def all(self) -> Sequence[Checkpoint]:
        return []

    def acts(self) -> Sequence[tuple[Checkpoint, Acts]]:
        return [(Checkpoint(9, bytes(32), NOON), Acts(self._witnessed))]

    async def present(self, _: Sequence[int]) -> frozenset[tuple[int, datetime]]:
        return frozenset()


def test_a_restore_acts_on_what_it_lost_itself_not_on_what_an_earlier_one_did() -> None:
    earlier = act(1, EventName.ENTITY_SECRET_RESET)
    own = Act(2, NOON + timedelta(days=1), EventName.ENTITY_SECRET_RESET.value, "", "user:asha")
    restored = _Restored(earlier, own)
    chain = AuditChain(restored, restored, restored, None, None)  # type: ignore[arg-type]

    assert asyncio.run(lost_acts(chain)) == [earlier, own]
    assert asyncio.run(lost_acts(chain, since=NOON + timedelta(hours=1))) == [own]
