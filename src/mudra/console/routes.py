"""All pages of the console under one path; each page file lists its own handlers."""

from collections.abc import Sequence
from typing import Final

import structlog
from litestar import Response
from litestar.types import ControllerRouterHandler

from mudra.console.disputes import member_disputes, operator_disputes
from mudra.console.framework.error_page import error_page, out_of_reach_page
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_language import write_in_language_of_page
from mudra.console.pages import maintenance, notifications, webhooks
from mudra.console.pages.comparison import member_funnel, operator_funnel, volume
from mudra.console.pages.levels import levels, network_rules
from mudra.console.pages.member import (
    account,
    account_alarms,
    activity,
    addresses,
    overview,
    passkeys,
    people,
    registration,
    registration_key,
    second_factor,
    secret,
    try_it,
)
from mudra.console.pages.member import incident as member_incident
from mudra.console.pages.member.health import member_health
from mudra.console.pages.operator import approvals as operator_approvals
from mudra.console.pages.operator import dashboard as operator_dashboard
from mudra.console.pages.operator import keys as operator_keys
from mudra.console.pages.operator import mails as operator_mails
from mudra.console.pages.operator import member as operator_member
from mudra.console.pages.operator import member_bulk as operator_member_bulk
from mudra.console.pages.operator import member_file as operator_member_file
from mudra.console.pages.operator import members as operator_members
from mudra.console.pages.operator import operators as operator_people
from mudra.console.pages.operator import probes as operator_probes
from mudra.console.pages.operator import search as operator_search
from mudra.console.pages.operator.audit_log import audit_pages as operator_audit
from mudra.console.pages.operator.health import (
    announcements,
    health_overview,
    health_subject,
    held_reports,
    incident,
    incident_announcement,
    incident_list_acts,
    incidents,
    silences,
)
from mudra.console.pages.operator.shown_settings import settings_page
from mudra.console.pages.public import passkey_sign_in, second_step, sign_in, single_sign_on
from mudra.console.timeline import timeline_pages
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, new_txn_id
from mudra.http.response.http_refusals import UNEXPECTED, Unavailable
from mudra.http.server.given import Given
from mudra.http.server.router import Router
from mudra.localization.language import gettext
from mudra.shared.unavailable import ServiceUnavailable

_log = structlog.get_logger()


_HANDLERS: Final[list[ControllerRouterHandler]] = [
    *sign_in.handlers,
    *second_step.handlers,
    *passkey_sign_in.handlers,
    *single_sign_on.handlers,
    *account.handlers,
    *account_alarms.handlers,
    *second_factor.handlers,
    *passkeys.handlers,
    *overview.handlers,
    *operator_dashboard.handlers,
    *health_overview.handlers,
    *health_subject.handlers,
    *operator_funnel.handlers,
    *volume.handlers,
    *incidents.handlers,
    *incident.handlers,
    *incident_announcement.handlers,
    *incident_list_acts.handlers,
    *silences.handlers,
    *announcements.handlers,
    *operator_disputes.handlers,
    *timeline_pages.handlers,
    *held_reports.handlers,
    *levels.handlers,
    *network_rules.handlers,
    *operator_members.handlers,
    *operator_member_file.handlers,
    *operator_member_bulk.handlers,
    *operator_member.handlers,
    *operator_approvals.handlers,
    *operator_probes.handlers,
    *operator_mails.handlers,
    *operator_keys.handlers,
    *operator_audit.handlers,
    *operator_people.handlers,
    *settings_page.handlers,
    *operator_search.handlers,
    *secret.handlers,
    *addresses.handlers,
    *try_it.handlers,
    *member_health.handlers,
    *member_funnel.handlers,
    *maintenance.handlers,
    *member_incident.handlers,
    *member_disputes.handlers,
    *webhooks.handlers,
    *notifications.handlers,
    *registration.handlers,
    *registration_key.handlers,
    *people.handlers,
    *activity.handlers,
]


def console_pages(
    given: Given[HttpDependencies], more: Sequence[ControllerRouterHandler] = ()
) -> Router:
    """Mount the console; its errors are pages. `more` are a sandbox's."""
    return Router(
        CONSOLE,
        route_handlers=[*_HANDLERS, *more],
        exception_handlers={
            ServiceUnavailable: lambda request, error: _unavailable(given.get(), request, error),
            Exception: lambda request, error: _unexpected(given.get(), request, error),
        },
    )


def _unavailable(
    dependencies: HttpDependencies, request: AnyRequest, error: Exception
) -> Response[str]:
    assert isinstance(error, ServiceUnavailable)
    _log.warning("unavailable", cause=error.cause, error=str(error))
    write_in_language_of_page(request, dependencies)
    return out_of_reach_page(dependencies, request, Unavailable(error.sentence))


def _unexpected(
    dependencies: HttpDependencies, request: AnyRequest, error: Exception
) -> Response[str]:
    txn_id = new_txn_id()
    _log.error("unexpected fault", txn_id=txn_id, exc_info=error)
    write_in_language_of_page(request, dependencies)
    return error_page(dependencies, UNEXPECTED, gettext("That went wrong"), txn_id)
