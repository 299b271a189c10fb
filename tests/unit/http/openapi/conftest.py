"""The document of a sandbox, which the tests here only read."""

import json
from typing import Any

import pytest

from mudra.bootstrap.routes import service_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """It is made once a process, in 0.6 s of CPU."""
    routes = service_routes(RouteSettings.of(Settings(sandbox=True))).routes
    found: dict[str, Any] = json.loads(json_document(routes.litestar, "https://o.example"))
    return found
