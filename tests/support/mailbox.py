"""The development mailbox of a running service."""

from typing import Any

import msgspec
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.http.response.sandbox_responses import SandboxMail, mail_response
from mudra.storage.mail.outbox import Outbox


def mails(service: Service, to: str) -> list[dict[str, Any]]:
    """All mails to an address as `mudra mail list --json` shows them, the oldest first."""

    async def read(dependencies: Dependencies) -> list[SandboxMail]:
        async with dependencies.transaction() as tx:
            return [mail_response(mail) for mail in await tx.service(Outbox).mails(to=to)]

    return msgspec.convert(msgspec.to_builtins(service.in_store(read)), list[dict[str, Any]])


def latest_link(service: Service, email: str) -> str:
    """The link of the latest mail to an address, from the development mailbox."""
    found = mails(service, email)
    assert found, f"no mail to {email}"
    link = found[-1]["links"][0]
    assert isinstance(link, str)
    return link


def subjects(service: Service, to: str) -> list[str]:
    """Their subjects without the name of the member or network, where it is before a colon."""
    return [one.partition(": ")[2] or one for one in (it["subject"] for it in mails(service, to))]
