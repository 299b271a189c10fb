"""mudra registry probe: does the base URL of an entry answer, and does it hold the key."""

import time
from typing import Annotated

import httpx2
import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import fail, show_facts, show_json
from mudra.http.response.probe_responses import ProbeResponse

_WAIT_S = 60.0
_PAUSE_S = 0.5


def add_to(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command(epilog="Example: mudra registry probe KAVERI-FIP --json")(probe)


def probe(
    entity_id: Annotated[str, typer.Argument(help="The entity's ID.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Call the base URL of the pending version, else of the live one, and show what answers.

    For operators with the scope registry, before an approval: whether it answers, by which
    certificate, and whether it holds the registered key.
    """
    entry = signed_in(base_url)
    path = f"/operator/v1/registry/entries/{entity_id}/probe"
    url = str(httpx2.URL(entry.base_url).copy_with(path=path))
    answer, until = post_json(url, {}, entry), time.monotonic() + _WAIT_S
    while answer.get("doneAt") is None:
        if time.monotonic() > until:
            fail(f"the probe is not done after {_WAIT_S:g} seconds: does the service run its jobs?")
        time.sleep(_PAUSE_S)
        answer = get_json(url, {}, entry)
    if as_json:
        show_json(answer)
        return
    found = read_as(answer, ProbeResponse)
    certificate = found.certificate
    show_facts(
        {
            "entity": f"{found.entity_id}, version {found.version}",
            "done": found.done_at or "",
            "answer": found.problem or f"status {found.status}",
            "registered key": "proven" if found.key_proven else f"not proven: {found.key_problem}",
            "certificate": certificate.subject if certificate else "none (no TLS)",
            "issued by": certificate.issuer if certificate else "",
            "valid until": certificate.valid_until if certificate else "",
            "trusted": (certificate.problem or "yes") if certificate else "",
        }
    )
