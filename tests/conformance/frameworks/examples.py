"""The middleware of the client library in FastAPI, Flask and Django, by the how-to guide's own words.

python examples.py ISSUER < token    prints a JSON object: framework to [status, text] of a call
with the token, of one without, and of a public path. Reads the issuer's time from each token.
"""

import asyncio
import json
import sys
from typing import Any

import django
import httpx2
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from tests.support.documents.blocks import blocks_of

from mudra.client import TokenVerifier
from mudra.client.web import wsgi

ISSUER = sys.argv[1]
NOW = float(sys.argv[2])
TOKEN = sys.stdin.read().strip()
CALLS = (("/v2/Consent", {"client_api_key": TOKEN}), ("/v2/Consent", {}), ("/health", {}))
GUIDE = "docs/how-to/use-the-client-library.md"
FILLED_IN = {
    '"https://iam.example.org/iam"': "ISSUER",
    'audience="account-aggregator-network"': 'audience="account-aggregator-network", wall=WALL',
}
"""The service's clock, which other tests move, is the time of the sample as well."""


def sample(first: str) -> Any:
    """The application of the guide's sample that begins so."""
    (text,) = (block.body for block in blocks_of(GUIDE) if block.first == first)
    for written, ours in FILLED_IN.items():
        assert written in text
        text = text.replace(written, ours)
    names: dict[str, Any] = {"__name__": "__main__", "ISSUER": ISSUER, "WALL": lambda: NOW}
    exec(text, names)  # the sample is what is tested
    return names["app"]


def fastapi_app() -> Any:
    app = sample("from fastapi import FastAPI, Request")

    @app.post("/health")
    async def health() -> str:
        return "well"

    return app


def flask_app() -> Any:
    app = sample("from flask import Flask, request")

    @app.post("/health")
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
    transport = httpx2.WSGITransport(app=app)
    with httpx2.Client(transport=transport, base_url="http://fip.example") as client:
        answers = [client.post(where, headers=headers) for where, headers in CALLS]
    return [(one.status_code, one.text) for one in answers]


async def by_asgi() -> list[tuple[int, str]]:
    transport = httpx2.ASGITransport(app=fastapi_app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://fip.example") as client:
        answers = [await client.post(where, headers=headers) for where, headers in CALLS]
    return [(one.status_code, one.json() if one.is_success else one.text) for one in answers]


def main() -> None:
    verifier = TokenVerifier(ISSUER, wall=lambda: NOW)
    found = {
        "fastapi": asyncio.run(by_asgi()),
        "flask": by_wsgi(flask_app()),
        "django": by_wsgi(django_app(verifier)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
