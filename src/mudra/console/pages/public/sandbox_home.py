"""The sandbox's home, and its mailbox and time machine as a page of operators.

Mounted in the sandbox only, which listens on loopback only.
"""

import asyncio
from collections.abc import Sequence
from typing import Final
from urllib.parse import urljoin

from litestar import Response, get

from mudra.console.framework import page, render
from mudra.console.framework.navigation import SANDBOX_ITEM
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import download
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.email_text import severity_of, severity_tone, without_severity
from mudra.console.pages.operator.labels import tone
from mudra.http.auth.gates import operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.server.router import Router
from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member import Member, MemberStatus
from mudra.identity.memberships.member_search import UserFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.shared.entity_type import EntityType
from mudra.shared.mail.email_message import links_in
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox

_MAX_MAILS: Final = 50
_MEMBERS: Final = Table[Member](
    "members",
    "Members",
    (
        Column("name", "Name", lambda one: one.name),
        Column("entity", "Entity", lambda one: one.entity_id, "code", phone="figure"),
        Column("type", "Type", lambda one: one.entity_type, "type", phone="state"),
        Column("admin", "Admin", lambda one: ", ".join(one.admins), phone="figure"),
        Column(
            "status",
            "Status",
            lambda one: one.status,
            "tag",
            tone=lambda one: tone(one.status),
            phone="state",
        ),
    ),
    first_sort="entity",
    rows=10,
)


def sandbox_home(password: str) -> Router:
    """Returns the sandbox's pages."""

    @get("/", include_in_schema=False)
    async def home(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[str] | Response[bytes]:
        """Show the members, operators and emails to try."""
        async with dependencies.transaction() as tx:
            members: Sequence[Member] = await People(tx).members()
            operators = await MemberSearch(tx).users(UserFilter(operators_only=True), "", 20)
            mailbox = await _mailbox(tx, dependencies.settings.issuer)
        query = dict(request.query_params.items())
        export = _MEMBERS.export(members, query)
        if export is not None:
            return download(export)
        return await asyncio.to_thread(
            render.page,
            "sandbox.html",
            {
                "network": dependencies.settings.network_name,
                "base": dependencies.settings.token_prefix,
                "issuer": dependencies.settings.issuer,
                "members": members,
                "to_try": _to_try(members),
                "table": _MEMBERS.view(members, query),
                "operators": [one.email for one in operators],
                **mailbox,
                "now": dependencies.clock(),
                "password": password,
            },
        )

    return Router("/", route_handlers=[home])


@page.get(f"/operator/{SANDBOX_ITEM}", gate=operator())
async def operator_sandbox(page_context: PageContext) -> Outcome:
    """Show mailbox and time machine to operators of any scope."""
    issuer = page_context.dependencies.settings.issuer
    return RenderedPage("operator_sandbox.html", await _mailbox(page_context.tx, issuer))


def _to_try(members: Sequence[Member]) -> Member | None:
    """Return who the commands are shown for: an active member that has an admin, an FIU if any."""
    able = [one for one in members if one.admins and one.status == MemberStatus.ACTIVE]
    users = [one for one in able if one.entity_type == EntityType.FIU]
    return next(iter([*users, *able]), None)


async def _mailbox(tx: Transaction, issuer: str) -> dict[str, object]:
    """Return emails, each with its links to this service: others are addresses that it names."""
    own, mails = urljoin(issuer, "/"), await tx.service(Outbox).mails(limit=_MAX_MAILS)
    return {
        "mails": [
            (mail, [link for link in links_in(mail.email.text) if link.startswith(own)])
            for mail in reversed(mails)
        ],
        "severity_of": severity_of,
        "severity_tone": severity_tone,
        "without_severity": without_severity,
    }
