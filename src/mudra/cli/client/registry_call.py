"""mudra registry submit and lint --online: calls of the service as the signed-in user."""

import sys
from http import HTTPStatus
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

from mudra.cli.client.api_client import refused, send_json, signed_in
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import settings_of
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding


def send_entry(raw: object, base_url: str | None) -> tuple[str, str]:
    """Update the entry, or submit it if the registry has none; returns status and notes.

    Fails with every finding and the service's error if the entry is refused.
    """
    entry = signed_in(base_url)
    kind, entity_id = _addressed(raw)
    prefix = settings_of().registry_prefixes[0]
    address = f"{_origin(entry)}{prefix}/entityInfo/{quote(kind, safe='')}"
    status, members = send_json("PUT", f"{address}/{quote(entity_id, safe='')}", raw, entry)
    if status == HTTPStatus.NOT_FOUND:
        status, members = send_json("POST", address, raw, entry)
    notes = [one.sentence() for one in _findings(members)]
    if status != HTTPStatus.OK:
        for note in notes:
            sys.stdout.write(f"{note}\n")
        refused(status, members)
    return str(members["status"]), "; ".join(notes)


def ask_findings(raw: object, base_url: str | None) -> tuple[Finding, ...]:
    """Return the service's findings on a payload; fails with its error if it returns none.

    Nothing is stored and no write is counted.
    """
    entry = signed_in(base_url)
    kind = _addressed(raw)[0]
    # The findings name an unknown type, whatever the address says.
    kind = kind if kind in tuple(EntityType) else EntityType.FIP
    prefix = settings_of().registry_prefixes[0]
    status, members = send_json("POST", f"{_origin(entry)}{prefix}/lint/{kind}", raw, entry)
    if status != HTTPStatus.OK or "passes" not in members:
        refused(status, members)
    return tuple(_findings(members))


def _origin(entry: SignedIn) -> str:
    parts = urlsplit(entry.base_url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def _addressed(raw: object) -> tuple[str, str]:
    """Return type and ID; of what is no payload, those of an address that refuses it."""
    payload = raw if isinstance(raw, dict) else {}
    info = payload.get("entityinfo")
    kind, entity_id = payload.get("type"), info.get("id") if isinstance(info, dict) else None
    return str(kind or "FIP"), str(entity_id or "-")


def _findings(members: dict[str, object]) -> list[Finding]:
    try:
        return msgspec.convert(members.get("findings", []), list[Finding])
    except msgspec.ValidationError:  # another service: only its errorMsg is shown
        return []
