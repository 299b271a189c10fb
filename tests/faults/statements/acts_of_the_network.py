"""What members and operators do: the registry, metrics, incidents, webhooks, keys."""

from datetime import datetime, timedelta

import msgspec
import sqlalchemy as sa
from tests.faults.statements.world import AA, FIP, World, new_id
from tests.support.metrics.incidents import an_incident
from tests.support.metrics.metrics_payloads import as_value, notification_metrics, request_metrics
from tests.support.registry.registry_payloads import fip

from mudra.metrics.incidents.incident import FipApi
from mudra.metrics.incidents.incident_change import Opened
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import WINDOW, Position, RequestType, window_start
from mudra.metrics.payload.report import RequestBlock, RequestFip
from mudra.storage.metrics.incidents import PostgresIncidents

WHY = {"reason": "a test"}
HOOK = {"url": "https://alarms.example/mudra"}


def registry(w: World) -> None:
    """Submit, reject, approve, update, take back, suspend, restore, retire."""
    submit = "POST /cr/v2/entityInfo/{entity_type}"
    update = "PUT /cr/v2/entityInfo/{entity_type}/{entity_id}"
    place = {"entity_type": "FIP", "entity_id": FIP}

    def decide(act: str, **more: object) -> None:
        w.act(
            "POST /operator/v1/registry/entries/{entity_id}/decide",
            w.staff,
            {"act": act, "reason": "a test", **more},
            entity_id=FIP,
        )

    w.act(submit, w.admin, fip(1, id=FIP), entity_type="FIP")
    decide("reject")
    w.act(submit, w.admin, fip(1, id=FIP), entity_type="FIP")
    decide("approve", version=2)
    enforce = {"entityId": FIP, "binding": "enforce", "evenSo": True}
    w.act("POST /iam/v1/entity/address/binding", w.admin, enforce)
    of_staff = "POST /operator/v1/members/{entity_id}/address-binding"
    w.act(of_staff, w.staff, {"binding": "watch"}, entity_id=FIP)
    w.act(update, w.admin, fip(2, id=FIP), **place)
    decide("approve", version=3)
    w.act("PUT /cr/v2/entityInfo/{entity_type}", w.staff, fip(3, id=FIP), entity_type="FIP")
    decide("rollBack", version=2)
    decide("suspend")
    decide("restore")
    w.act("POST /operator/v1/registry/entries/{entity_id}/probe", w.staff, entity_id=FIP)
    delete = "DELETE /cr/v2/entityInfo/{entity_type}/{entity_id}"
    w.act(delete, w.staff, **place, reason="a test")


def pushes(w: World) -> None:
    """Push both payloads, again, in place of the first, and what is implausible."""
    push = "POST /metrics/perf/v1/push"
    start = window_start(w.now()) - 2 * WINDOW
    requests = as_value(request_metrics(2, AA, new_id(), start))
    notifications = as_value(notification_metrics(2, AA, new_id(), start))
    w.act(push, w.aa, requests)
    w.act(push, w.aa, notifications)
    w.act(push, w.aa, requests)
    w.act(push, w.aa, as_value(request_metrics(2, AA, new_id(), start, seed=2)))
    for act, seed in (("refuse", 1), ("admit", 2)):
        w.act(push, w.aa, as_value(implausible(start - seed * WINDOW)))
        held = w.staff.get("/operator/v1/health/held-reports").json()["reports"]
        waiting = [one["receiptId"] for one in held if one["decidedAt"] is None]
        path = f"POST /operator/v1/health/held-reports/{{receipt_id}}/{act}"
        w.act(path, w.staff, WHY, receipt_id=waiting[0])


def implausible(start: datetime) -> object:
    """A payload that claims more calls than there can be."""
    counts = [0] * len(Position)
    counts[Position.TOTAL], counts[Position.OK_200] = 9 * 10**15, 9 * 10**15
    block = RequestBlock(RequestType.CONSENT.value, (90, 190, 290, 390), tuple(counts))
    payload = request_metrics(1, AA, new_id(), start)
    return msgspec.structs.replace(payload, fips=(RequestFip(FIP, (block,)),))


def incidents(w: World) -> None:
    """Take, discuss, hand over, close, reopen and review incidents; announcements, silences."""
    incident_id = new_incident(w)
    path = "POST /operator/v1/incidents/{incident_id}"
    w.act(f"{path}/acknowledge", w.staff, incident_id=incident_id)
    for act in (
        {"act": "comment", "text": "seen"},
        {"act": "hand-over", "text": "yours", "owner": "zoya@network.example"},
        {"act": "close", "text": "over"},
        {"act": "reopen", "text": "not over"},
        {"act": "close", "text": "over indeed"},
        {"act": "post-mortem", "text": "a cable"},
    ):
        w.act(f"{path}/acts", w.staff, act, incident_id=incident_id)
    ends = {"ends": (w.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ"), **WHY}
    path = "POST /operator/v1/announcements"
    said = {"title": "Maintenance", "text": "On Sunday.", "fipIds": [FIP]}
    made = w.act(path, w.staff, said).json()["announcement"]["announcementId"]
    one = f"{path}/{{announcement_id}}"
    w.act(one, w.staff, said | {"kind": "maintenance"}, announcement_id=made)
    w.act(f"{one}/updates", w.staff, {"text": "It takes longer."}, announcement_id=made)
    w.act(f"{one}/end", w.staff, announcement_id=made)
    path = "POST /operator/v1/health/silences"
    made = w.act(path, w.staff, ends).json()["silence"]["silenceId"]
    w.act(f"{path}/{{silence_id}}/end", w.staff, silence_id=made)
    path = "POST /metrics/perf/v1/maintenance"
    later = {"begins": (w.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    made = w.act(path, w.aa, ends | later).json()["silence"]["silenceId"]
    one = f"{path}/{{silence_id}}"
    w.act(one, w.aa, {"reason": "New disks."}, silence_id=made)
    w.act(f"{one}/end", w.aa, silence_id=made)


def levels(w: World) -> None:
    """Make reports of operators and members; set and end a target."""
    end = window_start(w.now()).isoformat()
    period = {"start": (window_start(w.now()) - 3 * WINDOW).isoformat(), "end": end}
    w.act("POST /operator/v1/levels/reports", w.staff, {"entityId": FIP, **period})
    w.act("POST /metrics/perf/v1/levels/reports", w.aa, period)
    path = "POST /operator/v1/levels/targets"
    target = {"role": "FIP", "measure": "success", "value": "97.5", **WHY}
    made = w.act(path, w.staff, target | {"since": w.now().date().isoformat()}).json()["target"]
    w.act(f"{path}/{{target_id}}/end", w.staff, target_id=made["targetId"])
    rule = {"since": w.now().date().isoformat(), "noticeHours": 24, "hoursAMonth": 24, **WHY}
    w.act("POST /operator/v1/levels/rule", w.staff, rule)


def disputes(w: World) -> None:
    """Raise, comment, attach, ask, answer, decide, reopen and withdraw."""
    own, staff = "POST /iam/v1/entity/disputes", "POST /operator/v1/disputes/{dispute_id}/steps"
    day = (w.now() - timedelta(days=3)).date().isoformat()
    said = {"entityId": FIP, "about": "day", "day": day, "text": "Not ours."}
    which = w.act(own, w.admin, said).json()["dispute"]["disputeId"]
    w.act(own, w.admin, said | {"kind": "comment"})
    of_one = f"{own}/{{dispute_id}}"
    file = {"name": "a.log", "content": "YQ=="}
    added = w.act(f"{of_one}/evidence", w.admin, file, dispute_id=which).json()["evidence"]
    place = {"dispute_id": which, "evidence_id": added["evidenceId"]}
    w.act("GET /operator/v1/disputes/{dispute_id}/evidence/{evidence_id}", w.staff, **place)
    w.act(staff, w.staff, {"act": "review"}, dispute_id=which)
    w.act(staff, w.staff, {"act": "ask", "text": "When?"}, dispute_id=which)
    w.act(f"{of_one}/steps", w.admin, {"act": "inform", "text": "At ten."}, dispute_id=which)
    for act in ("answer", "accept", "reopen", "reject", "reopen"):
        w.act(staff, w.staff, {"act": act, "text": "A test."}, dispute_id=which)
    w.act(f"{of_one}/steps", w.admin, {"act": "withdraw"}, dispute_id=which)


def new_incident(w: World) -> str:
    """An open incident that was found as the job finds it."""
    one = an_incident(FipApi(FIP, "cns"), window_start(w.now()) - 3 * WINDOW)
    incident_id = new_id()

    async def save() -> None:
        async with w.served.edge.dependencies.database.transaction() as transaction:
            found = [IncidentNotification(incident_id, Opened(one), notified=True)]
            await PostgresIncidents(transaction).save(found, await transaction.now())

    w.served.do(save())
    return incident_id


def delivered(w: World, webhook_id: str) -> str:
    """The ID of a message of a webhook that is over, as the job leaves it."""
    kept = (
        "INSERT INTO webhook_event (message_id, webhook_id, event, body, made_at, attempts, over_at,"
        " problem) SELECT message_id, webhook_id, event, body, made_at, 1, made_at, ''"
        " FROM webhook_message WHERE webhook_id = :id"
    )

    async def deliver() -> None:
        async with w.served.edge.dependencies.database.transaction() as transaction:
            for change in (kept, "DELETE FROM webhook_message WHERE webhook_id = :id"):
                await transaction.connection.execute(sa.text(change), {"id": webhook_id})

    w.served.do(deliver())
    return w.one("SELECT message_id FROM webhook_event WHERE webhook_id = %s", webhook_id)


def alarms(w: World) -> None:
    """Webhooks of operators, members and people; preferences; followed FIPs."""
    for name, by in (
        ("/operator/v1/health/webhooks", w.staff),
        ("/metrics/perf/v1/webhooks", w.fiu),
        ("/iam/v1/user/alarm/webhooks", w.admin),
    ):
        w.act(f"POST {name}", by, HOOK)
        hook = w.one("SELECT webhook_id FROM health_webhook ORDER BY made_at DESC LIMIT 1")
        one = f"POST {name}/{{webhook_id}}"
        w.act(f"{one}/test", by, webhook_id=hook)
        again, sent = f"{one}/events/{{message_id}}/resend", delivered(w, hook)
        w.act(again, by, webhook_id=hook, message_id=sent)
        for act in ("rotate", "remove"):
            w.act(f"{one}/{act}", by, webhook_id=hook)
    w.act("POST /iam/v1/user/alarm/preferences", w.admin, {"ofMembers": "major"})
    w.act("PUT /metrics/perf/v1/followed-fips/{fip_id}", w.fiu, fip_id=FIP)
    w.act("DELETE /metrics/perf/v1/followed-fips/{fip_id}", w.fiu, fip_id=FIP)


def operations(w: World) -> None:
    """Keys, the audit, the mail queue, and the sandbox's own."""
    rotate = "POST /operator/v1/keys/rotate"
    w.advance("P8D")
    mina = w.user_id("mina@network.example")
    moved = {"email": "mina2@network.example"}
    w.act("POST /operator/v1/users/{user_id}/email", w.staff, moved, user_id=mina)
    w.act("POST /operator/v1/users/{user_id}/email/confirm", w.deputy, moved, user_id=mina)
    w.act(rotate, w.staff, {"kind": "entity"})
    w.act("POST /operator/v1/audit/verify", w.staff)
    mail = w.one(
        "UPDATE mail_outbox SET sent_at = NULL WHERE mail_id = (SELECT mail_id FROM mail_outbox LIMIT 1) RETURNING mail_id"
    )
    w.act("POST /operator/v1/mails/{mail_id}/retry", w.staff, mail_id=mail)
    fault = {"entityId": FIP, "kind": "slow"}
    w.act("POST /sandbox/v1/faults", w.admin, fault)
    w.act("POST /sandbox/v1/faults/end", w.admin, {"entityId": FIP})
    w.act(rotate, w.staff, {"kind": "user", "emergency": True})
