"""GET /livez and /readyz: for load balancers and supervisors."""

from typing import Final

import msgspec
from litestar import Response, get
from msgspec import UNSET, Struct, UnsetType

from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import Envelope, new_txn_id
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import refusal
from mudra.shared.build_version import version

PATHS: Final = frozenset({"/livez", "/readyz"})


class Ready(Struct, frozen=True):
    """This node answers; `impaired` is what none of the nodes can do now."""

    status: str
    impaired: str | UnsetType = UNSET


@get("/livez", include_in_schema=False)
async def livez() -> Response[dict[str, str]]:
    """Answer that this process runs, and of which build; asks nothing of anyone."""
    return Response({"status": "live", "version": version()}, headers={"Cache-Control": "no-store"})


@get("/readyz", include_in_schema=False)
async def readyz(dependencies: InjectedDependencies) -> Response[bytes]:
    """Return whether requests may be sent to this node, and what keeps it from its work."""
    found = await dependencies.node.readiness()
    if found.outage is not None:
        envelope = Envelope(new_txn_id(), dependencies.clock())
        return refusal(envelope, Unavailable(found.outage.sentence)).response()
    status = Ready("ready", found.impairment.sentence if found.impairment else UNSET)
    return Response(
        msgspec.json.encode(status),
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
