"""The OpenAPI documents that services publish: their settings decide which calls there are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mudra.bootstrap.routes import service_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings

_NETWORKS: Final = RouteSettings.of(Settings())
PUBLISHED: Final[Mapping[str, RouteSettings]] = {
    "network": _NETWORKS,
    "sandbox": replace(_NETWORKS, sandbox=True),
    "moved": replace(
        _NETWORKS, token_prefix="", registry_published_responses=True,
        registry_prefixes=("/cr/v2", "/v3"), realm_paths=("/realms/aa",),
    ),
}  # fmt: skip  # one group a line
"""The last is of a service that took over from another one, at the addresses of that."""


def written_document(name: str, folder: Path) -> Path:
    """The file with the document of this name."""
    settings = PUBLISHED[name]
    made = json_document(
        service_routes(settings).routes.litestar,
        "https://mudra.example",
        published=settings.registry_published_responses,
    )
    file = folder / f"{name}.json"
    file.write_bytes(made)
    return file
