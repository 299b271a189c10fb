"""A member that says wrong things to the token service, and what right ones would be."""

from dataclasses import dataclass, field

import httpx2
from tests.support.members import Member

CANARY = "canary-5tgB6yhN7ujM"
USER = "/v1/user/token/generate"
ENTITY = "/v1/entity/token/generate"
READ = "/v1/entity/secret/read"
RESET = "/v1/entity/secret/reset"
RETIRE = "/v1/entity/secret/retire"
SET = "/v1/user/password/set"
FORGOT = "/v1/user/password/forgot"
CLOCK = "/sandbox/v1/clock"
FORMS = (USER, ENTITY)
JSONS = (READ, RESET, RETIRE, SET, FORGOT, CLOCK)
ALL = FORMS + JSONS

FIELDS = {
    USER: {"username": "someone@member.example", "password": CANARY},
    ENTITY: {"id": "KAVERI-FIP", "secret": CANARY},
    READ: {"entityId": "KAVERI-FIP"},
    RESET: {"entityId": "KAVERI-FIP", "secretExpiryDays": 180, "oldSecretValidity": 0},
    RETIRE: {"entityId": "KAVERI-FIP"},
    SET: {"token": CANARY, "password": CANARY},
    FORGOT: {"username": "someone@member.example"},
    CLOCK: {"advance": "PT1S"},
}
REQUIRED = [
    (path, name)
    for path, fields in FIELDS.items()
    for name in fields
    if name not in {"secretExpiryDays", "oldSecretValidity"}
]


@dataclass(frozen=True)
class Speaker:
    """A member whose secret must be the same before and after."""

    member: Member
    secret: str
    headers: dict[str, str] = field(repr=False)

    def post(self, path: str, **how: object) -> httpx2.Response:
        where = f"{self.member.service.root}{path}" if path == CLOCK else path
        return self.member.client.post(where, **how)  # type: ignore[arg-type]

    def send(self, path: str, fields: dict[str, object], **headers: str) -> httpx2.Response:
        """Send fields in the media type of the path, as an admin where one is asked for."""
        known = self.headers if path in {READ, RESET, RETIRE} else {}
        if path in FORMS:
            return self.post(path, data=fields, headers=headers)
        return self.post(path, json=fields, headers=known | headers)

    def send_raw(self, path: str, body: bytes, media: str | None = None) -> httpx2.Response:
        usual = "application/x-www-form-urlencoded" if path in FORMS else "application/json"
        known = self.headers if path in {READ, RESET, RETIRE} else {}
        return self.post(path, content=body, headers=known | {"Content-Type": media or usual})


def fields_of(path: str, admin: Speaker, **changed: object) -> dict[str, object]:
    own = {"entityId": admin.member.entity_id} if "entityId" in FIELDS[path] else {}
    return {**FIELDS[path], **own, **changed}
