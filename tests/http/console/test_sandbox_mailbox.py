"""The mailbox of the sandbox: a link of an email leads into the service."""

import re

import httpx2
from tests.support.service import NO_TLS, Member, Service, in_store, latest_link, onboard

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.ports import Notice, NoticeKind

ELSEWHERE = "https://api.kaveri.example/v2"


def test_an_address_that_an_email_names_is_no_link_of_it(service: Service, member: Member) -> None:
    facts = {
        "user_name": "Asha Rao",
        "entity_id": member.entity_id,
        "entity_name": "Kaveri Bank",
        "what": "has an update that awaits approval",
        "done_by": "an admin of the entity",
        "operator_name": "",
        "done_at": "2026-03-02T09:30:00.000Z",
        "reason": "",
        "changes": f"baseurl: v2:https://old.example/v2 → v2:{ELSEWHERE}",
        "withdrawn": "",
        "withdrawn_due_at": "",
    }

    async def post(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            notice = Notice(member.email, NoticeKind.REGISTRY_CHANGED, facts)
            await dependencies.outbox(transaction).post(notice)

    in_store(service, post)
    _, invited = onboard(service)
    mailbox = httpx2.get(f"{service.root}/", verify=NO_TLS, timeout=30).text
    links = re.findall(r'<a href="([^"]+)">Open the link in this email', mailbox)

    assert ELSEWHERE in mailbox
    assert latest_link(service, invited) in links
    assert {link.startswith(f"{service.root}/") for link in links} == {True}
