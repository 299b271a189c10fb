"""Every address is mounted with a gate, but for those named here: an address without one is red."""

from litestar.routes import HTTPRoute

from mudra.bootstrap.routes import service_routes
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings

FOR_ALL = {
    "/",
    "/console/forgot-password",
    "/docs",
    "/docs/{name:path}",
    "/iam/activate/{token:str}",
    "/iam/revocations",
    "/iam/static/{name:path}",
    "/livez",
    "/readyz",
    "/sandbox/v1/entities/{entity_id:str}/jwks.json",
    "/schema",
}
"""Nothing there is anyone's own."""
BEFORE_SIGN_IN = {"/console/passkey/challenge"}
"""Next to the forms of the sign-in, for a session that is not complete."""
AUTHENTICATE_THEMSELVES = {
    "/cr/v2/changes",
    "/cr/v2/entityInfo/{entity_type:str}",
    "/cr/v2/entityInfo/{entity_type:str}/{entity_id:str}",
    "/iam/v1/entity/token/generate",
}
"""Called too often for a framework between."""
FOLDERS = (
    "/status",
    "/schema/",
    "/console/sign-in",
    "/iam/oauth2/",
    "/iam/.well-known/",
    "/.well-known/",
    "/iam/protocol/",
)
FEEDS_AND_PUSHES = ("/feed", "/feed/events", "/push")


def test_an_address_without_a_gate_is_named() -> None:
    settings = RouteSettings.of(Settings(sandbox=True))
    without = {
        (method, route.path)
        for route in service_routes(settings).routes.litestar.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        if "gate" not in handler.opt
        for method in handler.http_methods - {"HEAD", "OPTIONS"}
    }
    known = FOR_ALL | BEFORE_SIGN_IN | AUTHENTICATE_THEMSELVES

    assert {
        (method, path)
        for method, path in without
        if path not in known and not path.startswith(FOLDERS)
        if not path.endswith(FEEDS_AND_PUSHES)
    } == set()
    assert {path for method, path in without if method == "GET"} >= FOR_ALL
