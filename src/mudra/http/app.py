"""The whole HTTP surface on one screen: what is mounted where, and what wraps it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import structlog
from litestar import Litestar, Response
from litestar.datastructures import ResponseHeader
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, ControllerRouterHandler, Receive, Scope, Send
from msgspec import Struct

from mudra.http import sandbox
from mudra.http.account import (
    confirm_link,
    entity_admins,
    own_access,
    own_activity,
    own_alarms,
    password,
)
from mudra.http.dependencies import HttpDependencies
from mudra.http.disputes import member_disputes
from mudra.http.health import webhooks
from mudra.http.health.health_routes import metrics_routes
from mudra.http.openapi.document import document_router, openapi_config
from mudra.http.operator import audit as operator_audit
from mudra.http.operator import dashboard as operator_dashboard
from mudra.http.operator import keys as operator_keys
from mudra.http.operator import mails as operator_mails
from mudra.http.operator import member_bulk as operator_member_bulk
from mudra.http.operator import member_file as operator_member_file
from mudra.http.operator import members as operator_members
from mudra.http.operator import operators as operator_people
from mudra.http.operator import registry as operator_registry
from mudra.http.operator import token_counts as operator_token_counts
from mudra.http.operator import users as operator_users
from mudra.http.registry import directory_reads as registry_reads
from mudra.http.registry import entity_info
from mudra.http.registry.published_answers import with_published_answers
from mudra.http.request.request_context import AnyRequest, Envelope, new_txn_id
from mudra.http.response.http_refusals import (
    NO_SUCH_ADDRESS,
    UNEXPECTED,
    InvalidField,
    MethodNotAllowed,
    Unavailable,
)
from mudra.http.response.json_response import JsonResponse, refusal
from mudra.http.route_settings import RouteSettings
from mudra.http.server import probes, security_txt
from mudra.http.server.fast_path_protocol import FastPath, PendingResponse, ReadyResponse
from mudra.http.server.given import Given
from mudra.http.server.instrumentation import set_route, with_route
from mudra.http.server.methods import has_second_spelling, with_head, with_options
from mudra.http.server.router import Router
from mudra.http.timeline import timeline_calls
from mudra.http.token import (
    address_binding,
    entity_secret,
    entity_token,
    oauth,
    realm,
    revocations,
    user_token,
    well_known,
)
from mudra.server_protocol.body_reader import Headers
from mudra.shared.unavailable import ServiceUnavailable

_log = structlog.get_logger()

_SAFETY_HEADERS: Final = [
    ResponseHeader(name="X-Content-Type-Options", value="nosniff"),
    ResponseHeader(name="Referrer-Policy", value="no-referrer"),
]
# Not for subdomains: those may be others' to run.
_ONLY_HTTPS: Final = ResponseHeader(name="Strict-Transport-Security", value="max-age=31536000")

_OPERATOR_HANDLERS: Final = [
    *operator_members.handlers,
    *operator_member_file.handlers,
    *operator_member_bulk.handlers,
    *address_binding.operator_handlers,
    *operator_users.handlers,
    *operator_mails.handlers,
    *operator_audit.handlers,
    *operator_people.handlers,
    *operator_registry.handlers,
    *operator_token_counts.handlers,
    *operator_keys.handlers,
    *operator_dashboard.handlers,
]
_TOKEN_HANDLERS: Final[list[ControllerRouterHandler]] = [
    user_token.generate,
    entity_token.described_generate,
    *entity_secret.handlers,
    *address_binding.handlers,
]
_PEOPLE_HANDLERS: list[ControllerRouterHandler] = [
    *confirm_link.handlers,
    *entity_admins.handlers,
    *own_activity.handlers,
    *member_disputes.handlers,
    *timeline_calls.member_handlers,
    *own_access.handlers,
    *own_alarms.handlers,
    *webhooks.person_handlers,
    password.set_by_link,
    password.forgot,
]

Pages = Sequence[ControllerRouterHandler]
NotFoundPage = Callable[[HttpDependencies, AnyRequest, Exception], Response[str] | None]
"""What answers a wrong address of a page; None where the address is none of a page."""


def _no_page(_: HttpDependencies, __: AnyRequest, ___: Exception) -> None:
    return None


class Routes(Struct, frozen=True):
    """All that Litestar serves, and what it is given to serve it."""

    litestar: Litestar
    given: Given[HttpDependencies]
    on_new_states: Sequence[Callable[[], None]]
    """What is called whenever the states of FIPs in the feed may have changed."""

    def take_back(self) -> None:
        """Make them ready for another application, once theirs has ended."""
        self.given.take_back()
        for listener in self.on_new_states:
            listener()


def build_app(routes: Routes, dependencies: HttpDependencies) -> ASGIApp:
    """Build the ASGI application: the hot path in front, Litestar for all else."""
    routes.given.give(dependencies)
    for listener in routes.on_new_states:
        dependencies.on_new_states(listener)
    litestar = with_head(with_route(with_options(routes.litestar)))
    hot_path, prefixes = _hot_path(dependencies), dependencies.settings.registry_prefixes

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await litestar(scope, receive, send)
        elif (outage := dependencies.node.out_of_service()) and scope["path"] not in probes.PATHS:
            await _unavailable(outage, dependencies).send(send)
        elif has_second_spelling(scope):
            await refusal(Envelope(new_txn_id(), dependencies.clock()), NO_SUCH_ADDRESS).send(send)
        elif scope["path"] == hot_path and scope["method"] == "POST":
            set_route(scope, hot_path)
            await _hot(entity_token.generate, scope, receive, send, dependencies)
        elif scope["method"] == "GET" and (read := _read_of_directory(scope["path"], prefixes)):
            set_route(scope, registry_reads.ROUTE)
            respond = partial(registry_reads.respond, *read)
            await _hot(respond, scope, receive, send, dependencies)
        else:
            await litestar(scope, receive, send)

    if dependencies.settings.registry_published_responses:
        return with_published_answers(app, prefixes)
    return app


def build_fast_path(dependencies: HttpDependencies) -> FastPath:
    """Build what answers the hot path without the application, whenever memory suffices."""

    def try_respond(headers: Headers, body: bytes, peer: str) -> PendingResponse | None:
        if dependencies.node.out_of_service():
            return None  # the application says why
        try:
            pending = entity_token.try_fast_path(headers, body, peer, dependencies)
        except ServiceUnavailable as error:
            return ReadyResponse(_unavailable(error, dependencies))
        except Exception as error:  # noqa: BLE001  # the last catcher: logged, answered with 500
            return ReadyResponse(_unexpected(error, dependencies))
        return None if pending is None else _CatchingResponse(pending, dependencies)

    return FastPath(_hot_path(dependencies), try_respond)


class _CatchingResponse(Struct):
    """A response whose errors become a 500: other connections wait behind it."""

    pending: PendingResponse
    dependencies: HttpDependencies

    def sign(self) -> None:
        try:
            self.pending.sign()
        except ServiceUnavailable as error:
            self.pending = ReadyResponse(_unavailable(error, self.dependencies))
        except Exception as error:  # noqa: BLE001  # the last catcher: logged, answered with 500
            self.pending = ReadyResponse(_unexpected(error, self.dependencies))

    def response(self) -> JsonResponse:
        try:
            return self.pending.response()
        except Exception as error:  # noqa: BLE001  # the last catcher: logged, answered with 500
            return _unexpected(error, self.dependencies)


def _hot_path(dependencies: HttpDependencies) -> str:
    return f"{dependencies.settings.token_prefix}/v1/entity/token/generate"


def _read_of_directory(path: str, prefixes: Sequence[str]) -> tuple[str, str] | None:
    """Return type and ID (empty for a list) of a read of the directory; None for another path."""
    for prefix in prefixes:
        start = f"{prefix}/entityInfo/"
        if path.startswith(start):
            parts = path.removeprefix(start).split("/")
            if all(parts) and len(parts) <= len(("type", "id")):
                return parts[0], parts[1] if parts[1:] else ""
    return None


async def _hot(  # the three ASGI arguments, and who answers
    answering: Callable[[Scope, Receive, Send, HttpDependencies], Awaitable[None]],
    scope: Scope,
    receive: Receive,
    send: Send,
    dependencies: HttpDependencies,
) -> None:
    try:
        await answering(scope, receive, send, dependencies)
    except ServiceUnavailable as error:
        await _unavailable(error, dependencies).send(send)
    except Exception as error:  # noqa: BLE001  # the last catcher: logged, answered as 500
        await _unexpected(error, dependencies).send(send)


def _unexpected(error: Exception, dependencies: HttpDependencies) -> JsonResponse:
    envelope = Envelope(new_txn_id(), dependencies.clock())
    _log.error("unexpected fault", txn_id=envelope.txn_id, exc_info=error)
    return refusal(envelope, UNEXPECTED)


def _unavailable(error: ServiceUnavailable, dependencies: HttpDependencies) -> JsonResponse:
    envelope = Envelope(new_txn_id(), dependencies.clock())
    _log.warning("unavailable", cause=error.cause, txn_id=envelope.txn_id, error=str(error))
    return refusal(envelope, Unavailable(error.sentence))


class _Litestar(Litestar):
    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        # All bodies here are msgspec's. By itself Litestar loads Pydantic wherever it is
        # installed: a tenth of a second and 10 MB for each process.
        return [*plugins, MsgspecDIPlugin()]


def build_routes(
    settings: RouteSettings,
    given: Given[HttpDependencies],
    pages: Pages = (),
    lost: NotFoundPage = _no_page,
    of_sandbox: Sequence[ControllerRouterHandler] = (),
) -> Routes:
    """Build all routes, in the process that serves them or in one that it is forked from.

    So each object that is made here, such as a cache, must do without a clock of the service, a
    connection and an event loop until its first request.
    """
    listeners: list[Callable[[], None]] = []
    handlers = _handlers(settings, of_sandbox, listeners.append)
    litestar = _Litestar(
        route_handlers=[*handlers, *pages],
        dependencies={"dependencies": Provide(given.get, sync_to_thread=False)},
        exception_handlers=_exception_handlers(given, lost),
        response_headers=safety_headers(settings),
        openapi_config=openapi_config(),
        logging_config=None,
        request_max_body_size=None,  # http/request/body/request_body.py bounds every body
    )
    return Routes(litestar, given, listeners)


def _handlers(
    settings: RouteSettings,
    of_sandbox: Sequence[ControllerRouterHandler],
    on_new_states: Callable[[Callable[[], None]], None],
) -> list[ControllerRouterHandler]:
    issuer_router = Router(
        settings.token_prefix or "/",
        route_handlers=[
            Router(
                "/v1",
                route_handlers=[
                    Router("/", route_handlers=_TOKEN_HANDLERS, tags=["Tokens"]),
                    Router("/", route_handlers=_PEOPLE_HANDLERS, tags=["People"]),
                ],
            ),
            oauth.token,
            oauth.introspect,
            oauth.revoke,
            revocations.revocations,
            well_known.jwks,
            well_known.certs,
            well_known.configuration,
        ],
    )
    handlers: list[ControllerRouterHandler] = [
        issuer_router,
        well_known.authorization_server_route(settings.token_prefix),
        *realm.realm_routes(settings.realm_paths),
        probes.livez,
        probes.readyz,
        security_txt.security_txt,
        document_router(published=settings.registry_published_responses),
        Router("/operator/v1", route_handlers=_OPERATOR_HANDLERS, tags=["Operators"]),
        *metrics_routes(settings.metrics_prefixes, on_new_states),
        *entity_info.registry_routers(settings.registry_prefixes),
    ]
    if settings.sandbox:
        all_of_sandbox = [*sandbox.handlers, *of_sandbox]
        handlers.append(Router("/", route_handlers=all_of_sandbox, tags=["Sandbox"]))
    return handlers


def safety_headers(settings: RouteSettings) -> list[ResponseHeader]:
    """Return the headers of every response; HSTS for a year where all is https."""
    return [*_SAFETY_HEADERS, _ONLY_HTTPS] if settings.https else _SAFETY_HEADERS


_Answer = Response[bytes] | Response[str]


def _raise_to_owner(error: Exception, dependencies: HttpDependencies) -> None:
    if dependencies.owner is not None:
        raise error  # the command says why, with what helps on this machine


def _exception_handlers(
    given: Given[HttpDependencies], lost: NotFoundPage
) -> dict[int | type[Exception], Callable[[AnyRequest, Exception], _Answer]]:
    def envelope() -> Envelope:
        return Envelope(new_txn_id(), given.get().clock())

    def not_found(request: AnyRequest, error: Exception) -> _Answer:
        page = lost(given.get(), request, error)
        return page or refusal(envelope(), NO_SUCH_ADDRESS).response()

    def method_not_allowed(request: AnyRequest, error: Exception) -> _Answer:
        if (page := lost(given.get(), request, error)) is not None:
            return page
        headers = (error.headers if isinstance(error, HTTPException) else None) or {}
        allowed = next((v for k, v in headers.items() if k.lower() == "allow"), "")
        names = {name.strip() for name in allowed.split(",") if name.strip()}
        if "GET" in names:
            names.add("HEAD")  # answered by http/server/methods.py
        return refusal(envelope(), MethodNotAllowed(tuple(sorted(names)))).response()

    def framework(_: AnyRequest, error: Exception) -> Response[bytes]:
        assert isinstance(error, HTTPException)
        if error.status_code >= 500:  # noqa: PLR2004  # a fault of the server
            return unexpected(_, error)
        return refusal(envelope(), InvalidField("the request cannot be read")).response()

    def unavailable(_: AnyRequest, error: Exception) -> Response[bytes]:
        assert isinstance(error, ServiceUnavailable)
        _raise_to_owner(error, given.get())
        return _unavailable(error, given.get()).response()

    def unexpected(_: AnyRequest, error: Exception) -> Response[bytes]:
        _raise_to_owner(error, given.get())
        return _unexpected(error, given.get()).response()

    return {
        NotFoundException: not_found,
        MethodNotAllowedException: method_not_allowed,
        HTTPException: framework,
        ServiceUnavailable: unavailable,
        Exception: unexpected,
    }
