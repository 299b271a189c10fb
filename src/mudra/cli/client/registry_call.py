"""mudra registry submit and lint --online: calls of the service as the signed-in user."""

import sys
from http import HTTPStatus

import msgspec

from mudra.cli.client.api import Answer, Api, in_path
from mudra.cli.local.settings import settings_of
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding


async def send_entry(api: Api, raw: object) -> tuple[str, str]:
    """Update the entry, or submit it if the registry has none; returns status and notes.

    Fails with every finding and the service's error if the entry is refused.
    """
    kind, entity_id = _addressed(raw)
    address = f"{settings_of().registry_prefixes[0]}/entityInfo/{in_path(kind)}"
    status, answer = await api.send("PUT", f"{address}/{in_path(entity_id)}", raw)
    if status == HTTPStatus.NOT_FOUND:
        status, answer = await api.send("POST", address, raw)
    notes = [one.sentence() for one in _findings(answer)]
    if status != HTTPStatus.OK:
        for note in notes:
            sys.stdout.write(f"{note}\n")
    return api.done(status, answer)["status"], "; ".join(notes)


async def ask_findings(api: Api, raw: object) -> tuple[Finding, ...]:
    """Return the service's findings on a payload; fails with its error if it returns none.

    Nothing is stored and no write is counted.
    """
    kind = _addressed(raw)[0]
    # The findings name an unknown type, whatever the address says.
    kind = kind if kind in tuple(EntityType) else EntityType.FIP
    status, answer = await api.send(
        "POST", f"{settings_of().registry_prefixes[0]}/lint/{kind}", raw
    )
    if "passes" not in answer:
        api.done(status, answer)
    return tuple(_findings(answer))


def _addressed(raw: object) -> tuple[str, str]:
    """Return type and ID; of what is no payload, those of an address that refuses it."""
    payload = raw if isinstance(raw, dict) else {}
    info = payload.get("entityinfo")
    kind, entity_id = payload.get("type"), info.get("id") if isinstance(info, dict) else None
    return str(kind or "FIP"), str(entity_id or "-")


def _findings(members: Answer) -> list[Finding]:
    try:
        return msgspec.convert(members.get("findings", []), list[Finding])
    except msgspec.ValidationError:  # another service: only its errorMsg is shown
        return []
