"""GET /schema/openapi.json and .yaml: the whole OpenAPI document.

It takes long, so each form is made at the first request for it and in a thread: the worker goes
on answering token requests.
"""

import asyncio
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from math import inf
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

import msgspec
from litestar import Litestar, Response, get
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, Contact, License, SecurityScheme
from litestar.routes import BaseRoute
from litestar.serialization import get_serializer
from litestar.types import ControllerRouterHandler

from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.components import Document, mapping, with_components
from mudra.http.openapi.whole import complete
from mudra.http.registry.published_answers import describe_published
from mudra.http.request.fields import LATER_DAY
from mudra.http.request.request_context import AnyRequest
from mudra.http.server.router import Router
from mudra.shared.waiting.made_once import MadeOnce

_JSON: Final = "application/vnd.oai.openapi+json"
_YAML: Final = "application/vnd.oai.openapi"


_ABOUT: Final = (
    "Tokens, registry and network metrics of an account-aggregator network. Every error has the "
    "same body, with a stable errorCode for programs and a sentence for people."
)
_LATER: Final = timedelta(days=300)
"""Within the year in which a silence may begin."""
_TAGS: Final = {
    "Tokens": "Entity secrets and access tokens",
    "OAuth": "Tokens for standard clients, the published keys and the revocation list",
    "People": "A signed-in person's own account, and the entity that they administer",
    "Registry": "Entries of members: endpoints and keys",
    "Network metrics": "Pushes of AAs, and health as members see it",
    "Network metrics for operators": "Health, incidents and alarms of the whole network",
    "Operators": "Members, people, keys and audit, for operators",
    "Public status": "Open data for everyone",
    "Sandbox": "Time, faults and mailbox of a sandbox",
}


class _NotTheFrameworks(Router):
    """Mounts none of the framework's own handlers: they make the document in the event loop."""

    def register(self, value: ControllerRouterHandler) -> list[BaseRoute]:  # noqa: ARG002  # the framework's shape
        """Mount nothing."""
        return []


def openapi_config() -> OpenAPIConfig:
    """Return the framework's configuration; `document_router` serves the result."""
    return OpenAPIConfig(
        title="Mudra",
        use_handler_docstrings=True,
        version="2.1.0",
        description=_ABOUT,
        contact=Contact(name="The operator of the network"),
        license=License(name="Apache License 2.0", identifier="Apache-2.0"),
        openapi_router=_NotTheFrameworks("/schema", route_handlers=[], include_in_schema=False),
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer", bearer_format="JWT")
            }
        ),
    )


def document_router(*, published: bool = False) -> Router:
    """Serve the document of the application that this is mounted in, made once a day.

    `published` says that the registry answers in the network's published form. There is no
    viewer: those of the framework load scripts from other sites.
    """
    made = MadeOnce(monotonic, lives_s=lambda _: inf, idle_s=inf, is_of_all=lambda _: True)

    async def described(app: Litestar, dependencies: HttpDependencies) -> bytes:
        origin = origin_of(dependencies.settings.issuer)
        later = (dependencies.clock() + _LATER).date()
        make = partial(
            asyncio.to_thread, json_document, app, origin, published=published, later=later
        )
        return await made.get(_JSON, (app, later), make)

    @get(["/", "/openapi.json"], include_in_schema=False)
    async def as_json(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
        return Response(await described(request.app, dependencies), media_type=_JSON)

    @get(["/openapi.yaml", "/openapi.yml"], include_in_schema=False)
    async def as_yaml(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
        document = await described(request.app, dependencies)
        written = await made.get(_YAML, document, partial(asyncio.to_thread, _yaml, document))
        return Response(written, media_type=_YAML)

    return Router("/schema", route_handlers=[as_json, as_yaml])


def origin_of(issuer: str) -> str:
    """Return scheme, host and port of a base address."""
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}"


def json_document(
    app: Litestar,
    origin: str = "http://127.0.0.1:8080",
    *,
    published: bool = False,
    later: date | None = None,
) -> bytes:
    """Return the whole document of an application as JSON; `origin` is that of its calls.

    `later` is the day for which the examples plan something, in place of `LATER_DAY`.
    """
    described = app.openapi_schema.to_schema()
    plain = msgspec.to_builtins(described, enc_hook=get_serializer(app.type_encoders))
    named = with_components(mapping(plain))
    if published:
        describe_published(mapping(mapping(named["components"])["schemas"]))
    whole = complete(named)
    whole["servers"] = [{"url": origin, "description": "This service"}]
    used = {tag for tags in _tags(mapping(whole["paths"])) for tag in tags}
    whole["tags"] = [{"name": tag, "description": _TAGS[tag]} for tag in sorted(used)]
    written = msgspec.json.encode(whole)
    return written.replace(LATER_DAY.encode(), later.isoformat().encode()) if later else written


def _tags(paths: Document) -> Iterator[list[str]]:
    for operations in paths.values():
        for operation in mapping(operations).values():
            yield mapping(operation)["tags"]  # type: ignore[misc]  # a list, by OpenAPI


def _yaml(document: bytes) -> bytes:
    return msgspec.yaml.encode(msgspec.json.decode(document))
