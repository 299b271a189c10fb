"""The message to a member's admins about an act on their entry: pure, and safe in an email."""

import datetime as dt
from collections.abc import Mapping
from typing import Final

from mudra.localization.language import translatable
from mudra.registry.lifecycle.actor import Actor, ActorKind
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.difference import FieldChange, Json
from mudra.registry.lifecycle.record import Version
from mudra.shared.entry_status import VersionStatus
from mudra.shared.mail.mail_text import safe_in_mail

_WHAT: Final = {
    RegistryAction.SUBMIT: translatable("was submitted for approval"),
    RegistryAction.UPDATE: translatable("was updated"),
    RegistryAction.APPROVE: translatable("was approved"),
    RegistryAction.REJECT: translatable("was rejected"),
    RegistryAction.SUSPEND: translatable("was suspended"),
    RegistryAction.RESTORE: translatable("was restored"),
    RegistryAction.RETIRE: translatable("was retired"),
    RegistryAction.ROLL_BACK: translatable("was rolled back"),
}
_BY: Final = {
    ActorKind.MEMBER_ADMIN: translatable("an admin of the entity"),
    ActorKind.ENTITY: translatable("a program of the entity"),
    ActorKind.SCHEDULE: translatable("the service, at the time that was set"),
}
_MAX_CHANGES: Final = 20
_MAX_VALUE: Final = 80


def member_notice(decision: Decision) -> Mapping[str, str] | None:
    """Return the facts of the email; None for an act that an earlier email announced."""
    what = _WHAT.get(decision.action)
    if what is None:
        return None
    if decision.action in {RegistryAction.UPDATE, RegistryAction.ROLL_BACK} and _waits(decision):
        what = translatable("was changed")
    return {
        "what": what,
        "waits": "yes" if _waits(decision) else "",
        "done_by": _by(decision.actor),
        "operator_name": "" if decision.actor.kind in _BY else _name(decision.actor),
        "done_at": decision.at.astimezone(dt.UTC).isoformat(),
        "reason": safe_in_mail(decision.reason),
        "changes": "; ".join(_changes(decision.changes)),
        **_withdrawn(decision.withdrawn),
    }


def _withdrawn(version: Version | None) -> Mapping[str, str]:
    if version is None or version.goes_live_at is None:
        return {"withdrawn": "", "withdrawn_due_at": ""}
    due_at = version.goes_live_at.astimezone(dt.UTC).isoformat()
    return {"withdrawn": str(version.number), "withdrawn_due_at": due_at}


def _by(actor: Actor) -> str:
    """Name an operator; an account of the member has an ID only, which says nothing to a reader."""
    return _BY.get(actor.kind, f"{_name(actor)} for the operator of the network")


def _name(actor: Actor) -> str:
    return safe_in_mail(actor.name.removeprefix("operator:"))


def _waits(decision: Decision) -> bool:
    return decision.status == VersionStatus.SUBMITTED


def _changes(changes: tuple[FieldChange, ...]) -> list[str]:
    """List the changed fields; every value of an entry is public (spec 2.7)."""
    shown = [
        f"{one.path.removeprefix('$.entityinfo.')}: {_value(one.before)} → {_value(one.after)}"
        for one in changes
        if one.path.startswith("$.entityinfo.")
    ]
    more = len(shown) - _MAX_CHANGES
    return [*shown[:_MAX_CHANGES], f"and {more} more"] if more > 0 else shown


def _value(value: Json) -> str:
    if value is None or value in ("", []):
        return "none"
    text = safe_in_mail(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"
