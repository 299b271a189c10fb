"""All pages of the console under one path; each page file lists its own handlers."""

from collections.abc import Sequence

import structlog
from litestar import Response
from litestar.types import ControllerRouterHandler

from mudra.console.alone import alone
from mudra.console.navigation import CONSOLE
from mudra.console.pages import (
    account,
    activity,
    health,
    health_board,
    health_subject,
    incidents,
    operator_approvals,
    operator_audit,
    operator_board,
    operator_keys,
    operator_mails,
    operator_member,
    operator_members,
    operator_people,
    operator_settings,
    overview,
    people,
    registration,
    secret,
    sign_in,
    silences,
    try_it,
)
from mudra.http.envelope import new_txn_id
from mudra.http.errors import Unavailable, Unexpected
from mudra.http.exchange import AnyRequest
from mudra.http.router import Router
from mudra.http.service import Service
from mudra.storage.unavailable import DatabaseUnavailable

_log = structlog.get_logger()


def console_pages(service: Service, more: Sequence[ControllerRouterHandler] = ()) -> Router:
    """Mount the console; what goes wrong in it is told as a page. `more` are a sandbox's."""
    handlers: list[ControllerRouterHandler] = [
        *sign_in.handlers,
        *account.handlers,
        *overview.handlers,
        *operator_board.handlers,
        *health_board.handlers,
        *health_subject.handlers,
        *incidents.handlers,
        *silences.handlers,
        *operator_members.handlers,
        *operator_member.handlers,
        *operator_approvals.handlers,
        *operator_mails.handlers,
        *operator_keys.handlers,
        *operator_audit.handlers,
        *operator_people.handlers,
        *operator_settings.handlers,
        *secret.handlers,
        *try_it.handlers,
        *health.handlers,
        *registration.handlers,
        *people.handlers,
        *activity.handlers,
        *more,
    ]
    return Router(
        CONSOLE,
        route_handlers=handlers,
        exception_handlers={
            DatabaseUnavailable: lambda _, error: _unavailable(service, error),
            Exception: lambda request, error: _unexpected(service, request, error),
        },
    )


def _unavailable(service: Service, error: Exception) -> Response[str]:
    _log.warning("database unavailable", error=str(error))
    return alone(service, Unavailable(), "Out of reach for the moment")


def _unexpected(service: Service, _: AnyRequest, error: Exception) -> Response[str]:
    txn_id = new_txn_id()
    _log.error("unexpected fault", txn_id=txn_id, exc_info=error)
    return alone(service, Unexpected(), "That went wrong", txn_id)
