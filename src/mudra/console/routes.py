"""All pages of the console under one path; each page file lists its own handlers."""

from collections.abc import Sequence

import structlog
from litestar import Response
from litestar.types import ControllerRouterHandler

from mudra.console.framework.error_page import error_page
from mudra.console.framework.navigation import CONSOLE
from mudra.console.pages.member import (
    account,
    activity,
    health,
    overview,
    people,
    registration,
    secret,
    try_it,
)
from mudra.console.pages.operator import approvals as operator_approvals
from mudra.console.pages.operator import audit as operator_audit
from mudra.console.pages.operator import dashboard as operator_board
from mudra.console.pages.operator import health_board, health_subject, incidents, silences
from mudra.console.pages.operator import keys as operator_keys
from mudra.console.pages.operator import mails as operator_mails
from mudra.console.pages.operator import member as operator_member
from mudra.console.pages.operator import members as operator_members
from mudra.console.pages.operator import operators as operator_people
from mudra.console.pages.operator import settings as operator_settings
from mudra.console.pages.public import sign_in
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.envelope import new_txn_id
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import Unavailable, Unexpected
from mudra.http.server.router import Router
from mudra.shared.unavailable import DatabaseUnavailable

_log = structlog.get_logger()


def console_pages(
    service: HttpDependencies, more: Sequence[ControllerRouterHandler] = ()
) -> Router:
    """Mount the console; its errors are pages. `more` are a sandbox's."""
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


def _unavailable(service: HttpDependencies, error: Exception) -> Response[str]:
    _log.warning("database unavailable", error=str(error))
    return error_page(service, Unavailable(), "Out of reach for the moment")


def _unexpected(service: HttpDependencies, _: AnyRequest, error: Exception) -> Response[str]:
    txn_id = new_txn_id()
    _log.error("unexpected fault", txn_id=txn_id, exc_info=error)
    return error_page(service, Unexpected(), "That went wrong", txn_id)
