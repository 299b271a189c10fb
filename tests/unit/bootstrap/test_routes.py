"""Routes that were built before a fork serve one application, and only where settings agree."""

import pytest

from mudra.bootstrap import routes
from mudra.bootstrap.routes import build_ahead, take_routes
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings

SANDBOX = Settings(sandbox=True)
OTHERS = (
    Settings(sandbox=False),
    Settings(sandbox=True, base_url="https://127.0.0.1:8080/iam"),
    Settings(sandbox=True, base_url="http://127.0.0.1:8080/elsewhere"),
    Settings(sandbox=True, realm_paths=("/auth/realms/older",)),
    Settings(sandbox=True, registry_prefixes=("/cr/v3",)),
    Settings(sandbox=True, registry_published_responses=True),
    Settings(sandbox=True, metrics_prefixes=("/metrics/perf/v2",)),
)


@pytest.fixture(autouse=True)
def none_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_ahead", {})


def test_routes_built_ahead_are_taken_once() -> None:
    build_ahead(SANDBOX)
    (ahead,) = routes._ahead.values()
    build_ahead(Settings(sandbox=True, port=1, network_name="Another"))
    assert list(routes._ahead.values()) == [ahead]

    first, second = take_routes(SANDBOX), take_routes(SANDBOX)

    assert first is ahead
    assert second is not first
    assert second.routes.given is not first.routes.given


def test_settings_that_differ_in_their_routes_get_routes_of_their_own() -> None:
    build_ahead(SANDBOX)
    (ahead,) = routes._ahead.values()

    assert routes._ahead.keys().isdisjoint(map(RouteSettings.of, OTHERS))
    assert take_routes(OTHERS[0]) is not ahead


def test_what_is_not_given_yet_cannot_be_asked_for() -> None:
    with pytest.raises(AssertionError, match="before it was given"):
        Given[str]().get()


def test_routes_are_given_to_one_application() -> None:
    given = Given[str]()
    given.give("this one")

    with pytest.raises(AssertionError, match="another application"):
        given.give("another")
    assert given.get() == "this one"
