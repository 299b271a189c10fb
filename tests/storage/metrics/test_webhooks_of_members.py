"""Whose webhooks get an incident: a member that may not ask for it is not sent it either."""

from datetime import UTC, datetime

import pytest
from tests.support.members import Member, new_member
from tests.support.people.operators import active_operator
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator_store import Operators
from mudra.metrics.notifications.alarm_mail import Reader
from mudra.metrics.notifications.alarm_mail_store import AlarmMails
from mudra.metrics.notifications.webhook import Owner, Webhook
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText

LATER = datetime(2099, 1, 1, tzinfo=UTC)
"""So that the jobs of the service leave these messages alone."""
SECRET = SecretText("not-a-real-secret-of-a-webhook")


def messages_to(service: Service, fiu: Member, affected: Member, bank: str) -> tuple[int, int]:
    """How many messages an incident of a bank queues: of a FIU that names it, of an AA."""

    async def count(dependencies: Dependencies) -> tuple[int, int]:
        async with dependencies.database.transaction() as transaction:
            webhooks = Webhooks(transaction)
            owners = (fiu.entity_id, (bank,)), (affected.entity_id, ())
            for owner, fips in owners:
                added = Webhook(fresh_id(), owner, "https://noc.example/", "x", LATER, fips=fips)
                await webhooks.add(added, SECRET)
            await webhooks.post([bank, affected.entity_id], b"{}", LATER, fip_id=bank)
            waiting = []
            for owner, _ in owners:
                (hook,) = await webhooks.list(Owner(owner))
                waiting.append(hook.waiting)
                await webhooks.remove(hook.webhook_id, None)
        return waiting[0], waiting[1]

    return service.in_store(count)


@pytest.mark.parametrize("status", ["suspended", "retired"])
def test_a_suspended_members_webhooks_get_no_incidents(service: Service, status: str) -> None:
    fiu, affected, bank = new_member(service, "FIU"), new_member(service, "AA"), "SOME-BANK-FIP"
    assert messages_to(service, fiu, affected, bank) == (1, 1)

    async def end(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            for one in (fiu, affected):
                ended = MemberStatus(status)
                await Memberships(tx).set_status(one.entity_id, ended, ended)

    service.in_store(end)

    assert messages_to(service, fiu, affected, bank) == (0, 0)


def test_whose_right_ended_reads_no_alarms_with_a_webhook_that_stays(service: Service) -> None:
    bank, operator = new_member(service), active_operator(service, "health")

    async def readers(dependencies: Dependencies) -> dict[str, Reader]:
        async with dependencies.transaction() as tx:
            people = [await People(tx).by_username(one) for one in (bank.email, operator)]
            ids = [one.user_id for one in people if one is not None]
        async with dependencies.database.transaction() as transaction:
            mails = AlarmMails(transaction)
            found = await mails.readers({bank.entity_id}, ids)
        return {one.email: one for one in found}

    async def end_rights(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            admin = await People(tx).by_username(bank.email)
            former = await People(tx).by_username(operator)
            assert admin is not None
            assert former is not None
            await Memberships(tx).remove_admin(bank.entity_id, admin.user_id)
            await Operators(tx).set_scopes(former.user_id, frozenset())

    before = service.in_store(readers)
    service.in_store(end_rights)
    after = service.in_store(readers)

    assert before[bank.email].least(bank.entity_id) is not None
    assert before[operator].is_operator
    assert after[bank.email].least(bank.entity_id) is None
    assert after[operator].least("") is None
