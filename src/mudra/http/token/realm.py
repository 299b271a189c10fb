"""The addresses of an earlier identity server's realm, for networks that move from it.

Members have these addresses in their settings: the same keys and the same tokens as at our own.
"""

from collections.abc import Sequence

from litestar import get, post
from litestar.handlers import HTTPRouteHandler

from mudra.http.response.open_data import OPEN_DATA
from mudra.http.token import oauth, well_known

_BELOW = "/protocol/openid-connect"


def realm_routes(paths: Sequence[str]) -> list[HTTPRouteHandler]:
    """Mount keys and token endpoint below each path."""
    return [
        route
        for path in paths
        for route in (
            get(f"{path}{_BELOW}/certs", include_in_schema=False, opt=OPEN_DATA)(
                well_known.send_keys
            ),
            post(f"{path}{_BELOW}/token", status_code=200, include_in_schema=False)(
                oauth.issue_token
            ),
        )
    ]
