"""GET /livez and /readyz: for load balancers and supervisors."""

from litestar import Response, get

from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import refusal


@get("/livez", include_in_schema=False)
async def livez() -> Response[dict[str, str]]:
    """Tell that this process answers; asks nothing of anyone."""
    return Response({"status": "live"}, headers={"Cache-Control": "no-store"})


@get("/readyz", include_in_schema=False)
async def readyz(service: InjectedDependencies) -> Response[bytes]:
    """Tell whether this node can do its work: database reached, keys at hand."""
    if not await service.database_ready():
        return refusal(Envelope(new_txn_id(), service.clock()), Unavailable()).response()
    return Response(
        b'{"status":"ready"}', media_type="application/json", headers={"Cache-Control": "no-store"}
    )
