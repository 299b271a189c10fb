"""Who may call which route about people, and what the one who may gets.

One row for each route. A caller who is not named is refused with 401.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

OBJECTS = ("A", "B", "missing")
SCOPES = ("members", "registry", "health", "keys", "audit")
CALLERS = (
    "nobody",
    "garbage",
    "admin A",
    "second admin A",
    "former admin A",
    "reader A",
    "admin B",
    "entity A",
    "entity B",
    *(f"operator {scope}" for scope in SCOPES),
    "operator without scope",
    "expired user",
    "revoked user",
    "disabled user",
    "wrong audience",
    "signed by no one",
)
ADMINS_OF = {"A": {"admin A", "second admin A"}, "B": {"admin B"}, "missing": set[str]()}
READERS_OF = {"A": {"reader A"}, "B": set[str](), "missing": set[str]()}
SIGNED_IN = {
    *("admin A", "second admin A", "former admin A", "reader A", "admin B"),
    "operator without scope",
} | {f"operator {scope}" for scope in SCOPES}
"""Whose User Access Token is valid, whatever it gives."""
ANY_SCOPE = "any"
_HOOKS, _NONE = "/iam/v1/user/alarm/webhooks", "00000000-0000-4000-8000-000000000000"
_DISPUTE = f"/iam/v1/entity/disputes/{_NONE}"


@dataclass(frozen=True)
class Row:
    """A route: `{entity}` and `{user}` in path and body are those of the object, `{new}` is none of them."""

    method: str
    path: str
    answers: frozenset[int]
    """What those who may call it get, one status or another by the state of the object."""
    body: Mapping[str, object] = field(default_factory=dict)
    scope: str = ""
    own: bool = True
    """Without a scope: an admin of the very entity; else anyone who is signed in."""
    reads: bool = False
    """Whether the entity's readers may call it, too."""

    def admits(self, caller: str, which: str) -> bool:
        """Say whether the caller may do this to the object."""
        if self.scope == ANY_SCOPE:
            return caller in {f"operator {scope}" for scope in SCOPES}
        if self.scope:
            return caller == f"operator {self.scope}"
        if not self.own:
            return caller in SIGNED_IN
        return caller in ADMINS_OF[which] | (READERS_OF[which] if self.reads else set())


def _row(
    method: str, path: str, *answers: int, scope: str = "", reads: bool = False, **body: object
) -> Row:
    return Row(method, path, frozenset(answers), body, scope, reads=reads)


UNKNOWN_ID = str(uuid.UUID(int=7))
UNKNOWN = "nobody@member.example"
_MEMBERS = "/operator/v1/members"
_USER = "/operator/v1/users/{user}"

SECRET_ROWS = tuple(
    # Readers have no right to it. What came before and how lately decides between the answers.
    _row("POST", f"/iam/v1/entity/secret/{act}", 200, 409, 429, entityId="{entity}")
    for act in ("read", "reset", "retire")
)
ROWS = (
    _row("POST", "/iam/v1/entity/admin/list", 200, reads=True, entityId="{entity}"),
    _row("POST", "/iam/v1/entity/admin/add", 200, entityId="{entity}", email="{email}"),
    _row("POST", "/iam/v1/entity/admin/remove", 404, entityId="{entity}", email=UNKNOWN),
    # To oneself: refused by the rule, not by the right.
    _row("POST", "/iam/v1/entity/admin/handover", 400, entityId="{entity}", email="{own}"),
    _row("POST", "/iam/v1/entity/admin/invite-again", 404, entityId="{entity}", email=UNKNOWN),
    _row("POST", "/iam/v1/entity/contact/set", 200, entityId="{entity}", email=""),
    _row("GET", "/iam/v1/entity/secret/use?entityId={entity}", 200, reads=True),
    _row("GET", "/iam/v1/entity/address/binding?entityId={entity}", 200),
    _row("POST", "/iam/v1/entity/address/binding", 200, entityId="{entity}", binding="network"),
    _row("GET", "/iam/v1/entity/attention?entityId={entity}", 200, reads=True),
    _row("GET", "/iam/v1/entity/activity?entityId={entity}", 200, reads=True),
    _row("GET", "/iam/v1/entity/timeline?entityId={entity}", 200, reads=True),
    _row("GET", f"/iam/v1/entity/incidents/{_NONE}/before?entityId={{entity}}", 404, reads=True),
    _row("GET", "/iam/v1/entity/disputes?entityId={entity}", 200, reads=True),
    # Which day is missing: no dispute is raised.
    _row("POST", "/iam/v1/entity/disputes", 400, entityId="{entity}", about="day", text="x"),
    Row("GET", f"{_DISPUTE}", frozenset({404}), own=False),
    Row("POST", f"{_DISPUTE}/steps", frozenset({404}), {"act": "withdraw"}, own=False),
    Row(
        *("POST", f"{_DISPUTE}/evidence", frozenset({404})),
        {"name": "a.log", "content": "YQ=="},
        own=False,
    ),
    Row("GET", f"{_DISPUTE}/evidence/{_NONE}", frozenset({404}), own=False),
    Row("GET", "/iam/v1/user/session/list", frozenset({200}), own=False),
    Row("POST", "/iam/v1/user/session/end", frozenset({200}), {"sessionId": "0" * 16}, own=False),
    Row("GET", "/iam/v1/user/alarm/preferences", frozenset({200}), own=False),
    Row("POST", "/iam/v1/user/alarm/preferences", frozenset({200}), own=False),
    Row("GET", _HOOKS, frozenset({200}), own=False),
    Row("POST", _HOOKS, frozenset({400}), own=False),
    Row("GET", f"{_HOOKS}/{_NONE}/attempts", frozenset({404}), own=False),
    Row("GET", f"{_HOOKS}/{_NONE}/events", frozenset({404}), own=False),
    Row("POST", f"{_HOOKS}/{_NONE}/events/{_NONE}/resend", frozenset({404}), own=False),
    *(
        Row("POST", f"{_HOOKS}/{_NONE}/{act}", frozenset({404}), own=False)
        for act in ("remove", "test", "rotate")
    ),
    Row("GET", "/iam/v1/user/token/list", frozenset({200}), own=False),
    Row("POST", "/iam/v1/user/token/revoke", frozenset({200}), {"jti": UNKNOWN_ID}, own=False),
    _row("GET", _MEMBERS, 200, scope="members"),
    _row(
        # An object of its own: what is missing must be missing after it too.
        *("POST", _MEMBERS, 200),
        scope="members",
        entityId="{new}",
        type="FIP",
        name="Kaveri Bank",
        adminEmail="{email}",
    ),
    _row(
        *("POST", f"{_MEMBERS}/{{entity}}/status", 200, 404),
        scope="members",
        status="active",
        reason="a test",
    ),
    _row(
        *("POST", f"{_MEMBERS}/admins/add", 200, 404),
        scope="members",
        entityId="{entity}",
        email="{email}",
    ),
    _row(
        *("POST", f"{_MEMBERS}/admins/remove", 404),
        scope="members",
        entityId="{entity}",
        email=UNKNOWN,
    ),
    _row(
        *("POST", f"{_MEMBERS}/admins/handover", 404),
        scope="members",
        entityId="{entity}",
        leaving=UNKNOWN,
        email="{email}",
    ),
    _row(
        *("POST", f"{_MEMBERS}/import", 200),
        scope="members",
        csv="entityId,type,name,adminEmail\n,FIP,Bank,no@member.example\n",
    ),
    _row(
        *("POST", f"{_MEMBERS}/bulk", 200),
        scope="members",
        act="invite",
        entityIds=["NO-SUCH"],
    ),
    _row("GET", f"{_MEMBERS}/export?words={{entity}}", 200, scope="members"),
    _row("POST", f"{_MEMBERS}/contact", 200, 404, scope="members", entityId="{entity}", email=""),
    _row("GET", f"{_MEMBERS}/{{entity}}/address-binding", 200, 404, scope="members"),
    _row(
        *("POST", f"{_MEMBERS}/{{entity}}/address-binding", 200, 404),
        scope="members",
        binding="network",
    ),
    _row("GET", "/operator/v1/users", 200, scope="members"),
    _row("POST", f"{_USER}/disable", 200, 404, scope="members"),
    _row("POST", f"{_USER}/enable", 200, 404, scope="members"),
    _row("POST", f"{_USER}/invite", 200, 404, scope="members"),
    _row("POST", f"{_USER}/email", 409, 404, scope="members", email="{email}"),
    _row("POST", f"{_USER}/email/confirm", 404, scope="members", email="{email}"),
    _row("POST", f"{_USER}/second-factor/reset", 409, 404, scope="members"),
    _row("GET", f"{_MEMBERS}/{{entity}}/tokens", 200, 404, scope="members"),
    _row("GET", f"{_USER}/tokens", 200, 404, scope="members"),
    _row("POST", f"{_USER}/tokens/revoke", 200, 404, scope="members", jti=UNKNOWN_ID),
    _row("GET", "/operator/v1/mails", 200, scope="members"),
    _row("POST", "/operator/v1/mails/{mail}/retry", 404, scope="members"),
    _row("GET", "/operator/v1/audit", 200, scope="audit"),
    _row("POST", "/operator/v1/audit/verify", 200, scope="audit"),
    # Admins of entities are no operators; what would change more than that is sent unreadable.
    _row("POST", "/operator/v1/operators", 409, scope="members", email="{email}", scopes=[]),
    _row("GET", "/operator/v1/board", 200, scope=ANY_SCOPE),
    _row("GET", "/operator/v1/settings", 200, scope=ANY_SCOPE),
    _row("GET", "/operator/v1/keys", 200, scope="keys"),
    _row("POST", "/operator/v1/keys/rotate", 400, scope="keys", kind="none such"),
    _row("GET", "/operator/v1/registry/waiting", 200, scope="registry"),
    _row("GET", "/operator/v1/registry/vocabulary", 200, scope="registry"),
    _row("GET", "/operator/v1/registry/entries/{entity}", 200, 404, scope="registry"),
    _row(
        *("POST", "/operator/v1/registry/entries/{entity}/decide", 400),
        scope="registry",
        act="none such",
    ),
    _row("POST", "/operator/v1/registry/entries/{entity}/probe", 200, 404, scope="registry"),
    _row("GET", "/operator/v1/registry/entries/{entity}/probe", 200, 404, scope="registry"),
    *SECRET_ROWS,
)
