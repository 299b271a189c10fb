"""The middleware of the client library in FastAPI, Flask and Django, as the how-to guide has it.

python examples.py ISSUER < token    prints a JSON object: framework to [status, text] of a call
with the token, of one without, and of a public path. Reads the issuer's time from each token.
"""

import asyncio
import json
import sys

import django
import fastapi
import flask
import httpx
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from fastapi import Request

from mudra.client import AsyncTokenVerifier, TokenVerifier
from mudra.client.web import asgi, wsgi

ISSUER = sys.argv[1]
NOW = float(sys.argv[2])
TOKEN = sys.stdin.read().strip()
CALLS = (("/v2/Consent", {"client_api_key": TOKEN}), ("/v2/Consent", {}), ("/health", {}))


def fastapi_app(verifier: AsyncTokenVerifier) -> fastapi.FastAPI:
    app = fastapi.FastAPI()
    app.add_middleware(asgi.EntityTokenMiddleware, verifier=verifier, public_paths=["/health"])

    @app.get("/v2/Consent")
    async def consent(request: Request) -> str:
        return request.state.mudra_entity.entity_id

    @app.get("/health")
    async def health() -> str:
        return "well"

    return app


def flask_app(verifier: TokenVerifier) -> flask.Flask:
    app = flask.Flask(__name__)
    app.wsgi_app = wsgi.EntityTokenMiddleware(app.wsgi_app, verifier, public_paths=["/health"])

    @app.get("/v2/Consent")
    def consent() -> str:
        return flask.request.environ["mudra.entity"].entity_id

    @app.get("/health")
    def health() -> str:
        return "well"

    return app


def consent(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.META["mudra.entity"].entity_id)


def health(_: HttpRequest) -> HttpResponse:
    return HttpResponse("well")


urlpatterns = [path("v2/Consent", consent), path("health", health)]


def django_app(verifier: TokenVerifier) -> wsgi.EntityTokenMiddleware:
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["fip.example"], SECRET_KEY="unused")
    django.setup()
    return wsgi.EntityTokenMiddleware(get_wsgi_application(), verifier, public_paths=["/health"])


def by_wsgi(app: object) -> list[tuple[int, str]]:
    transport = httpx.WSGITransport(app=app)
    with httpx.Client(transport=transport, base_url="http://fip.example") as client:
        answers = [client.get(where, headers=headers) for where, headers in CALLS]
    return [(one.status_code, one.text) for one in answers]


async def by_asgi(verifier: AsyncTokenVerifier) -> list[tuple[int, str]]:
    transport = httpx.ASGITransport(app=fastapi_app(verifier))
    async with httpx.AsyncClient(transport=transport, base_url="http://fip.example") as client:
        answers = [await client.get(where, headers=headers) for where, headers in CALLS]
    return [(one.status_code, one.json() if one.is_success else one.text) for one in answers]


def main() -> None:
    verifier = TokenVerifier(ISSUER, wall=lambda: NOW)
    found = {
        "fastapi": asyncio.run(by_asgi(AsyncTokenVerifier(ISSUER, wall=lambda: NOW))),
        "flask": by_wsgi(flask_app(verifier)),
        "django": by_wsgi(django_app(verifier)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
