"""docs/reference/emails.md: every email, composed from the templates with sample facts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mudra.mail.compose import EmailComposer
from mudra.mail.facts import FACTS, OCCASIONS
from mudra.shared.mail.notice import Notice

_INTRO: Final = (Path(__file__).parent / "emails_intro.md").read_text(encoding="utf-8")
_CONSOLE: Final = "https://tokens.network.example/console"
_STATUS: Final = "https://tokens.network.example/status"
_SECRET_TIMES: Final = {
    "reset_at": "2026-03-02T09:30:00.000Z",
    "expires_at": "2026-08-29T09:30:00.000Z",
    "old_secret_ends_at": "2026-03-09T09:30:00.000Z",
    "ends_at": "2026-03-09T09:30:00.000Z",
    "last_used_at": "2026-03-08T18:12:00.000Z",
    "written_at": "2026-08-22T09:30:00.000Z",
    "last_failure_at": "2026-03-02T09:30:00.000Z",
    "restored_to": "2026-03-02T02:00:00.000Z",
    "restored_at": "2026-03-02T08:10:00.000Z",
    "window": "2026-03-02T09:20:00.000Z",
    "done_at": "2026-03-02T09:30:00.000Z",
    "changed_at": "2026-03-02T09:30:00.000Z",
}
SAMPLES: Final[Mapping[str, str]] = {
    **_SECRET_TIMES,
    "user_name": "Lakshmi Iyer",
    "entity_id": "KAVERI-FIP",
    "entity_name": "Kaveri Bank",
    "link": "https://tokens.network.example/iam/activate/sample",
    "valid_hours": "24",
    "invited": "Ravi Rao",
    "invited_by": "Meera Rao",
    "takes_over": "",
    "reads_only": "",
    "status": "suspended",
    "leaving": "meera@kaveribank.example",
    "successor": "ravi@kaveribank.example",
    "change": "added",
    "person": "ravi@kaveribank.example",
    "former": "",
    "old_contact": "it-desk@kaveribank.example",
    "new_contact": "noc@kaveribank.example",
    "manages_secrets": "yes",
    "reset_by": "Meera Rao",
    "days_left": "7",
    "use_count": "12",
    "address_count": "2",
    "failures": "5",
    "title": "Kaveri Bank: 80 % of calls failing since 14:50 IST",
    "story": "Bad since 02 Mar 2026, 14:50 IST, in 2 windows of ten minutes. Latest, at 15:00: "
    "160 of 200 calls failed; 2 would be usual. Call Kaveri Bank: +91 80 4000 1000.",
    "over": "",
    "severity": "critical",
    "open": "3",
    "incidents": "Kaveri Bank: 80 % of calls failing | Deccan Cooperative Bank: calls slow",
    "worst": "Kaveri Bank: 80 % of calls failing",
    "pages": f"{_CONSOLE}/operator/incidents/sample-1 | {_CONSOLE}/operator/incidents/sample-2",
    "named": "yes",
    "more": "1",
    "what": "was approved",
    "waits": "",
    "done_by": "an admin of the entity",
    "operator_name": "",
    "reason": "the new certificate",
    "changes": "certificate, baseurl",
    "withdrawn": "2",
    "withdrawn_due_at": "2026-03-02T00:00:00Z",
    "number": "1",
    "minutes": "30",
    "claimed": "4,000,000 calls",
    "plausible": "40,000",
    "secret_lost": "yes",
    "old_address": "lakshmi@kaveribank.example",
    "new_address": "lakshmi.iyer@kaveribank.example",
    "enforced": "yes",
    "changed_by": "Meera Rao",
    "listed": "192.0.2.10",
    "institution": "Kaveri Bank",
    "webhook": "",
    "days": "3",
    "apis": "FI fetch",
    "effect": "disrupted",
    "symptom": "calls failing",
    "began": "2026-03-02 14:50 IST (09:20 UTC)",
    "ended": "",
    "end_link": "https://tokens.network.example/status/subscription/sample",
    "kind": "maintenance",
    "about": "day",
    "since": "2026-02-27T18:30:00.000Z",
    "until": "2026-02-28T18:30:00.000Z",
    "act": "ask",
    "by": "operator",
    "state": "information_wanted",
    "said": "Which gateway was it?",
    "due_at": "2026-03-12T09:30:00.000Z",
    "outlook": "burning",
    "measure": "availability",
    "target": "99.5",
    "allowed": "61,000",
    "spent": "38,400",
    "day_rate": "4.2",
    "week_rate": "2.1",
    "gone_at": "2026-03-21T09:30:00.000Z",
    "from_day": "2026-03-01",
    "to_day": "2026-03-31",
    "version": "1",
    "missed": "availability, success",
    "waits_for": "member",
    "page": "entity/KAVERI-FIP/disputes/0195562f-6b1e-7c44-9f0e-2f5f6a7b8c9d",
    "text": "No data can be fetched from 02:00 to 04:00 IST.",
    "institutions": "Kaveri Bank",
    "update": "",
    "begins": "2026-03-08 02:00 IST (7 March, 20:30 UTC)",
    "ends": "2026-03-08 04:00 IST (7 March, 22:30 UTC)",
}
"""A value for each fact. `make docs` fails for a fact without one."""
_OTHER: Final[Mapping[str, dict[str, str]]] = {
    "health_alarm": {"link": f"{_CONSOLE}/entity/KAVERI-FIP/health/incidents/sample-1"},
    "health_digest": {"over": "1", "link": f"{_CONSOLE}/operator/board"},
    "health_escalated": {"link": f"{_CONSOLE}/operator/board"},
    "subscription_confirm": {"link": f"{_STATUS}/subscription/sample"},
    "subscription_failing": {"link": f"{_STATUS}/subscription/sample"},
    "status_incident": {"link": f"{_STATUS}/fip/KAVERI-FIP"},
    "status_announcement": {
        "title": "Kaveri Bank replaces its gateway on Sunday",
        "link": f"{_STATUS}/fip/KAVERI-FIP",
    },
    "report_held": {"entity_id": "SAARTHI-AA", "entity_name": "Saarthi AA", "what": "calls",
                    "claimed": "4,000,000"},
    "dispute_step": {"kind": "dispute"},
    "levels_budget": {"title": "Kaveri Bank: error budget of the month is used up",
                      "story": "More calls failed this month than the target allows for the whole "
                               "month. Availability, target 99.5 %. Failures so far: 14,200 of "
                               "14,097 allowed in the month.",
                      "over": "", "severity": "major",
                      "link": f"{_CONSOLE}/entity/KAVERI-FIP/levels"},
    "levels_report": {"page": "entity/KAVERI-FIP/levels/0195562f-6b1e-7c44-9f0e-2f5f6a7b8c9d"},
    "second_factor": {"what": "A code of an authenticator app was added."},
}  # fmt: skip


def emails_page() -> str:
    """Return the page. Raises KeyError for an email or a fact without a sample."""
    composer = EmailComposer(
        "Sample network",
        contact="support@network.example",
        console=_CONSOLE,
    )
    overview = [
        f"| [{kind.value}](#{kind.value}) | {OCCASIONS[kind].rstrip('.').replace(': ', ' | ', 1)} |"
        for kind in FACTS
    ]
    head = ["| email | when | to whom |", "|---|---|---|"]
    parts = [_INTRO.format(overview="\n".join([*head, *overview]))]
    for kind, names in FACTS.items():
        facts = {name: SAMPLES[name] for name in names} | _OTHER.get(kind.value, {})
        email = composer.compose(Notice("lakshmi@kaveribank.example", kind, facts))
        attached = "".join(f" Attached: `{one.name}`." for one in email.attachments)
        parts += [
            f"## {kind.value}",
            "",
            OCCASIONS[kind] + attached,
            "",
            f"Facts: {', '.join(f'`{name}`' for name in names)}.",
            "",
            "```text",
            f"Subject: {email.subject}",
            "",
            email.text.strip(),
            "```",
            "",
        ]
    return "\n".join(parts)
