"""GET /livez and /readyz: for load balancers and supervisors."""

from typing import Final

from litestar import Response, get

from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import refusal

PATHS: Final = frozenset({"/livez", "/readyz"})


@get("/livez", include_in_schema=False)
async def livez() -> Response[dict[str, str]]:
    """Answer that this process runs; asks nothing of anyone."""
    return Response({"status": "live"}, headers={"Cache-Control": "no-store"})


@get("/readyz", include_in_schema=False)
async def readyz(dependencies: InjectedDependencies) -> Response[bytes]:
    """Return whether this node can do all of its work, and what keeps it from that."""
    outage = await dependencies.node.outage()
    if outage is not None:
        envelope = Envelope(new_txn_id(), dependencies.clock())
        return refusal(envelope, Unavailable(outage.sentence)).response()
    return Response(
        b'{"status":"ready"}', media_type="application/json", headers={"Cache-Control": "no-store"}
    )
