"""The first page of the sandbox: whom it shows commands for, and the links of its emails."""

import re
import uuid

import httpx2
from tests.support.http_clients import NO_TLS
from tests.support.mailbox import latest_link
from tests.support.members import Member, onboard
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.storage.mail.outbox import Outbox

ELSEWHERE = "https://api.kaveri.example/v2"


def test_an_address_that_an_email_names_is_no_link_of_it(service: Service, member: Member) -> None:
    facts = {
        "user_name": "Asha Rao",
        "entity_id": member.entity_id,
        "entity_name": "Kaveri Bank",
        "what": "was changed",
        "waits": "yes",
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
            await transaction.service(Outbox).post(notice)

    service.in_store(post)
    _, invited = onboard(service)
    mailbox = _first_page(service)
    links = re.findall(r'<a href="([^"]+)">Open the link in this email', mailbox)

    assert ELSEWHERE in mailbox
    assert latest_link(service, invited) in links
    assert {link.startswith(f"{service.root}/") for link in links} == {True}


def test_the_commands_are_shown_for_a_member_that_has_an_admin(
    service: Service, member: Member
) -> None:
    # The first FIU of all by its ID, so that the page would choose it.
    unique = uuid.uuid4().hex[:10]
    first, admin = f"0-{unique}-FIU", f"asha-{unique}@member.example"
    service.cli(
        *("member", "onboard", first, "--type", "FIU"),
        *("--name", "Kaveri Bank", "--admin", admin),
    )
    before = _first_page(service)
    service.cli("admin", "remove", first, admin)
    after = _first_page(service)

    assert f"mudra login {admin} " in before
    shown = re.search(r"mudra login (\S+@\S+) ", after)
    assert shown
    assert shown[1] != admin
    assert f"mudra token entity {first} " not in after


def _first_page(service: Service) -> str:
    answer = httpx2.get(f"{service.root}/", verify=NO_TLS)
    assert answer.status_code == 200, answer.text
    return answer.text
