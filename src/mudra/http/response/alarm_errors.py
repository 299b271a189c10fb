"""Rows of the table of errors.py for incidents, silences and webhooks."""

from mudra.http.response.errors import ErrorCode, Problem, add_row
from mudra.metrics.incidents.silence import SilenceRefused
from mudra.metrics.notifications.alarm_service import (
    Acknowledged,
    NoSuchIncident,
    NoSuchSilence,
    NoSuchWebhook,
    NotAMember,
)
from mudra.metrics.notifications.webhook import TooManyWebhooks, UrlRefused


def _not_found(sentence: str) -> Problem:
    return Problem(404, ErrorCode.NOT_FOUND, sentence)


def register() -> None:
    """Put the rows into the table."""
    add_row(NoSuchIncident, lambda _: _not_found("no incident of this ID"))
    add_row(
        Acknowledged,
        lambda r: Problem(
            409,
            ErrorCode.CONFLICT,
            f"meanwhile {r.by} has begun to look after it, so nothing was changed; "
            "open the incident again to take it over",
        ),
    )
    add_row(NoSuchSilence, lambda _: _not_found("no silence of this ID that is not over"))
    add_row(NoSuchWebhook, lambda _: _not_found("no webhook of this ID"))
    add_row(NotAMember, lambda r: _not_found(f"no member has the entity ID {r.entity_id}"))
    add_row(
        SilenceRefused, lambda r: Problem(400, ErrorCode.INVALID_REQUEST, f"{r.field} {r.problem}")
    )
    add_row(UrlRefused, lambda r: Problem(400, ErrorCode.INVALID_REQUEST, f"url {r.problem}"))
    add_row(
        TooManyWebhooks,
        lambda r: Problem(
            409, ErrorCode.CONFLICT, f"there are {r.most} webhooks already: remove one first"
        ),
    )


register()
