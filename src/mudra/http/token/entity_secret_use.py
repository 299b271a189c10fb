"""GET /entity/secret/use: when and from where an entity's secrets were last used.

An address of its own, so that the answers of specification 2.3 stay as they are.
"""

from datetime import datetime
from typing import Final

from litestar import Response, get

from mudra.audit.event import Caller
from mudra.http.auth.as_user import as_user
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.json_response import HandlerResult
from mudra.http.token.requests import EntityQuery
from mudra.http.token.responses import EntitySecretUseResponse
from mudra.identity.accounts.user import User
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.manage_secret import SecretUsage, secret_use
from mudra.tokens.secrets.old_secret_use import SecretUse, last_use_sentence
from mudra.tokens.secrets.secret import EntitySecret
from mudra.unit_of_work import UnitOfWork

_SHOWN: Final = 20


@get(
    "/entity/secret/use",
    operation_class=described(
        "When and from where the entity's secrets were used",
        None,
        EntitySecretUseResponse,
        bearer=True,
        query=EntityQuery,
    ),
)
async def use(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show the use of the current secret, and of the old one while its grace runs."""
    context, order = receive_query(request, service, EntityQuery)

    async def act(work: UnitOfWork, _: Caller, user: User, order: EntityQuery) -> HandlerResult:
        shown = await secret_use(order.entity_id, user.administers, work.secrets, work.uses)
        return _members(order.entity_id, shown) if isinstance(shown, SecretUsage) else shown

    return await as_user(context, order, act)


def _members(entity_id: str, shown: SecretUsage) -> Body:
    members: Body = {
        "entityId": entity_id,
        "current": use_members(
            shown.current, shown.current_use, shown.current.expires_at, shown.now
        ),
    }
    if shown.old is not None and shown.old.grace_until is not None:
        members["old"] = use_members(shown.old, shown.old_use, shown.old.grace_until, shown.now)
    return members


def use_members(secret: EntitySecret, used: SecretUse, ends_at: datetime, now: datetime) -> Body:
    """Write the use of one secret."""
    last = {"lastUsedAt": iso_ms(used.last_used_at)} if used.last_used_at else {}
    return {
        "version": secret.version,
        "count": used.count,
        "addressCount": len(used.addresses),
        **last,
        "endsAt": iso_ms(ends_at),
        "summary": last_use_sentence(used, now),
        "addresses": [
            {"address": one.address, "count": one.count, "lastUsedAt": iso_ms(one.last_used_at)}
            for one in used.addresses[:_SHOWN]
        ],
    }
