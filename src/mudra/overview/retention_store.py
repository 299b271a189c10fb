"""The time for which rows are kept: one rule for every table, or a reason to keep them.

`docs/reference/retention.md` is made from it, and a test compares it with the tables of the
database: a table without a rule is a mistake.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, assert_never

import sqlalchemy as sa
from msgspec import Struct

from mudra.identity.sessions.session import LIFE
from mudra.identity.sign_in.throttle import ADDRESS_PERIOD, MAX_FAILURES, SUCCESS_PERIOD
from mudra.metrics.announcements.announcement import RETENTION
from mudra.metrics.subscriptions.subscription import CONFIRM_WITHIN
from mudra.registry.lifecycle.acts.write_budget_store import PERIOD
from mudra.storage.tables import identity as i
from mudra.storage.tables import metrics as m
from mudra.storage.tables import metrics_blocks as b
from mudra.storage.tables import service as t
from mudra.storage.tables import subscriptions as n
from mudra.storage.tables import tokens as k
from mudra.storage.tables.announcements import status_announcement
from mudra.storage.tables.registry import registry_probe, registry_write

_DAY: Final = timedelta(days=1)


class Days(Struct, frozen=True):
    """The periods that settings give."""

    mail: int
    sums: int


class Kept(Struct, frozen=True):
    """Rows that are never deleted by age: why, and what bounds their number."""

    why: str


class ByJob(Struct, frozen=True):
    """Rows that another job or the act itself deletes: which, and when."""

    how: str


class Aged(Struct, frozen=True):
    """Rows that the job `clear-out` deletes once `column` is older than `after`."""

    column: sa.Column[object]
    after: timedelta | str
    """A period, or the name of one in `Days`."""
    only: sa.ColumnElement[bool] | None = None
    text: str = ""
    """What `only` means."""
    unset_is_old: bool = False
    """Whether rows without a time go too: they say what no row says."""
    by_machine_time: bool = False
    """Whether the time is the database's own, which the sandbox does not move."""

    def period(self, days: Days) -> timedelta:
        """Return the period under these settings."""
        if isinstance(self.after, timedelta):
            return self.after
        return timedelta(days=days.mail if self.after == "mail" else days.sums)


Rule = Kept | ByJob | Aged

_SETTINGS: Final = {"mail": "`MUDRA_MAIL_DAYS`", "sums": "`MUDRA_METRICS_DAY_DAYS`"}
_HOUR: Final = 60

_PROOF: Final = "proof of what happened"
_ARCHIVED: Final = "dropped by `clear-out` once archived, after `MUDRA_AUDIT_ARCHIVED_DAYS`"
_PARTITIONS: Final = "dropped as whole partitions by `metrics-retention`"
_RAW: Final = f"{_PARTITIONS} after `MUDRA_METRICS_RAW_DAYS`"

RULES: Final[Mapping[str, Rule]] = {
    "alembic_version": Kept("one row"),
    "schema_version": Kept("one row"),
    # Identity
    "user_account": Kept("one for each person who ever acted: the audit names them"),
    "entity": Kept("one for each member"),
    "entity_admin": Kept("one for each right; deleted with it"),
    "entity_reader": Kept("one for each right; deleted with it"),
    "entity_contact": Kept("one for each member at most"),
    "operator_scope": Kept("one for each right; deleted with it"),
    "access_grant": Kept("one for each right that a person gave another: approvals ask for it"),
    "email_link": Aged(i.email_link.c.expires_at, 30 * _DAY),
    "throttle": Aged(
        i.throttle.c.last_failure_at,
        365 * _DAY,
        i.throttle.c.failures < MAX_FAILURES,
        "where the password was not disabled",
        unset_is_old=True,
    ),
    "address_failure": Aged(i.address_failure.c.at, ADDRESS_PERIOD),
    "sign_in_success": Aged(i.sign_in_success.c.at, SUCCESS_PERIOD),
    "sign_in_wait": ByJob("taken by `remind`, which sends their notices"),
    "link_request": ByJob("taken by `links` within a minute"),
    "status_subscription": Aged(
        n.status_subscription.c.asked_at,
        CONFIRM_WITHIN,
        n.status_subscription.c.confirmed_at.is_(None),
        "where the address was not confirmed; others until they are ended",
    ),
    "followed_fip": Kept("500 for each FIU at most; deleted when it no longer follows one"),
    "status_challenge": Aged(n.status_challenge.c.at, _DAY),
    "status_news": Aged(n.status_news.c.at, 90 * _DAY),
    "status_announcement": Aged(
        status_announcement.c.over_at, RETENTION, text="once over; 20 at most are not"
    ),
    "address_change": Aged(i.address_change.c.expires_at, _DAY),
    "admin_invitation": Aged(i.admin_invitation.c.expires_at, _DAY),
    "console_session": Aged(i.console_session.c.started_at, LIFE),
    "user_token": Aged(k.user_token.c.expires_at, _DAY),
    "totp_factor": Kept("one for each person at most; deleted with the factor"),
    "passkey": Kept("ten for each person at most; deleted with the factor"),
    "passkey_challenge": Aged(i.passkey_challenge.c.expires_at, timedelta(hours=1)),
    "sign_on_attempt": Aged(i.sign_on_attempt.c.expires_at, timedelta(hours=1)),
    "local_sign_in": Aged(i.local_sign_in.c.until, _DAY),
    "recovery_code": Kept("ten for each person at most; deleted once used"),
    "user_token_use": ByJob("deleted with its row of `user_token`"),
    # Service levels
    "level_target": Kept("500 at most: the past of each report is judged by them"),
    "level_report": Kept("the proof of what was published: some 20 kB for each member and month"),
    # Tokens
    "entity_secret": Kept("one for each reset, five a day at most; ended ones hold a hash only"),
    "secret_reminder": Aged(
        k.secret_reminder.c.done_at,
        400 * _DAY,
        ~sa.exists().where(
            k.entity_secret.c.entity_id == k.secret_reminder.c.entity_id,
            k.entity_secret.c.version == k.secret_reminder.c.version,
            k.entity_secret.c.state == "current",
        ),
        "where the secret is not the current one",
    ),
    "secret_use": Aged(k.secret_use.c.last_used_at, 400 * _DAY),
    "token_day": Aged(k.token_day.c.day, "sums"),
    "revoked_entity_token": Aged(k.revoked_entity_token.c.expires_at, _DAY),
    "used_assertion": Aged(k.used_assertion.c.expires_at, _DAY),
    "used_proof": Aged(k.used_proof.c.expires_at, timedelta(hours=1)),
    "sandbox_fault": Aged(k.sandbox_fault.c.ends_at, 2 * _DAY),
    "signing_key": Kept("one or two a month; private halves are destroyed when they retire"),
    "key_fetch": Aged(k.key_fetch.c.last_at, 400 * _DAY),
    "sealed_key": Kept("a fixed number"),
    # Registry
    "registry_entity": Kept("one for each entity"),
    "registry_version": Kept("the history of an entry, which its page shows"),
    "registry_change": Kept("the feed: a mirror proves itself complete from its first row"),
    "registry_word": Kept("words that operators added"),
    "registry_key_search": Kept("one for each key of an entry's history"),
    "registry_probe": Aged(registry_probe.c.requested_at, 400 * _DAY),
    "registry_write": Aged(registry_write.c.at, PERIOD),
    # Mail
    "mail_outbox": Aged(
        t.mail_outbox.c.created_at,
        "mail",
        sa.or_(t.mail_outbox.c.sent_at.is_not(None), t.mail_outbox.c.next_attempt_at.is_(None)),
        "once sent or given up",
    ),
    "mail_alarm": ByJob("deleted with its row of `mail_outbox`"),
    # Audit
    "audit_event": ByJob(_ARCHIVED),
    "audit_seal": ByJob(_ARCHIVED),
    "audit_archive": Kept(_PROOF),
    "audit_checkpoint": Kept(_PROOF),
    "audit_epoch": Kept(_PROOF),
    "audit_token_issue": ByJob("packed into `audit_token_block` by `seal-audit` within minutes"),
    "audit_token_block": ByJob("dropped by `clear-out` after `MUDRA_AUDIT_TOKEN_DAYS`"),
    "audit_token_drop": Kept("one a day at most: which blocks were dropped, signed"),
    "audit_anonymous": ByJob("made an event of the audit by `anonymous` after their minute"),
    "audit_refused": ByJob("made an event of the audit by `anonymous` after their minute"),
    # Metrics
    "metrics_block_previous": ByJob(_RAW),
    "metrics_refused": ByJob("deleted by `metrics-retention` after `MUDRA_METRICS_RAW_DAYS`"),
    "metrics_held": ByJob("deleted by `metrics-retention` after `MUDRA_METRICS_RAW_DAYS`"),
    "metrics_block": Aged(
        b.metrics_block.c.until,
        "sums",
        b.metrics_block.c.grain == "day",
        "those of days; windows and hours are dropped by `metrics-retention` after"
        " `MUDRA_METRICS_RAW_DAYS` and `MUDRA_METRICS_HOUR_DAYS`",
    ),
    "metrics_receipt": ByJob("deleted by `metrics-retention` after `MUDRA_METRICS_HOUR_DAYS`"),
    "metrics_push": ByJob("deleted with its row of `metrics_receipt`"),
    "metrics_received": Aged(m.metrics_received.c.at, "sums"),
    "metrics_daily": Aged(m.metrics_daily.c.day, "sums"),
    "metrics_stale": ByJob("deleted by `metrics-sums` and `metrics-watch` with the sums they make"),
    "metrics_attribution": ByJob("thinned and deleted by `metrics-watch`: one an hour at most"),
    "metrics_fip_state": ByJob("deleted by `metrics-watch` after six hours"),
    "metrics_own_calls": Aged(
        m.metrics_own_calls.c.at,
        "sums",
        m.metrics_own_calls.c.span == "day",
        "those of days; hours are deleted by `metrics-watch` after nine days",
    ),
    "metrics_incident": Aged(
        m.metrics_incident.c.began, "sums", m.metrics_incident.c.ended.is_not(None), "once over"
    ),
    "incident_act": ByJob("deleted with its row of `metrics_incident`"),
    "health_silence": ByJob("deleted by `metrics-retention` 90 days after their end"),
    "health_webhook": Kept("until its owner removes it; of a subscription, until that ends"),
    "webhook_event": ByJob("the latest 50 of each webhook are kept"),
    "webhook_attempt": ByJob("the latest 20 of each webhook are kept"),
    "webhook_message": ByJob("deleted once delivered, or given up after 24 hours"),
    "capacity_notice": ByJob("deleted by `capacity-notices` once it is over; one a member"),
    "level_burn": Kept("a row for each member, measure and month"),
    "level_rule": Kept("the rules by which reports were made"),
    "dispute": Kept("proof of what was contested, and how it was decided"),
    "dispute_step": Kept("200 of each dispute at most"),
    "dispute_evidence": Kept("5 files of each dispute at most"),
    "dispute_correction": Kept("what corrected figures are made of"),
    "alarm_preference": Kept("one for each person at most"),
    "alarm_mail": ByJob(
        "deleted by `metrics-retention` 90 days after its alarm was over; a budget's after "
        "it was sent"
    ),
    # The service itself
    "node": Aged(t.node.c.proven_at, timedelta(hours=1), by_machine_time=True),
    "job_run": Kept("one for each job, with its last failure"),
    "service_fact": Kept("a fixed number of names"),
}
"""The rule of each table, by its name; partitions follow their parent."""


def described(rule: Rule) -> str:
    """Return what the reference says of a rule."""
    match rule:
        case Kept(why):
            return f"kept: {why}"
        case ByJob(how):
            return how
        case Aged(column, after, text=only):
            period = after if isinstance(after, timedelta) else _SETTINGS[after]
            condition = f", {only}" if only else ""
            return f"deleted once `{column.name}` is older than {_words(period)}{condition}"
        case never:
            assert_never(never)


def _words(period: timedelta | str) -> str:
    if isinstance(period, str):
        return period
    if period < timedelta(days=1):
        minutes = period // timedelta(minutes=1)
        return f"{minutes} minutes" if minutes < _HOUR else f"{minutes // _HOUR} hours"
    return f"{period.days} days"
