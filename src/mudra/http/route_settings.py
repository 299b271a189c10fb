"""The settings that decide which addresses a service has, and what all answers have in common."""

from typing import Self

from msgspec import Struct

from mudra.settings.settings import Settings


class RouteSettings(Struct, frozen=True):
    """All that is known while routes are built; two services that agree in it have the same."""

    token_prefix: str
    realm_paths: tuple[str, ...]
    registry_prefixes: tuple[str, ...]
    registry_published_responses: bool
    metrics_prefixes: tuple[str, ...]
    https: bool
    """Whether members call the service by https."""
    sandbox: bool

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Take them from the settings of a service."""
        return cls(
            token_prefix=settings.token_prefix,
            realm_paths=tuple(settings.realm_paths),
            registry_prefixes=tuple(settings.registry_prefixes),
            registry_published_responses=settings.registry_published_responses,
            metrics_prefixes=tuple(settings.metrics_prefixes),
            https=settings.issuer.startswith("https://"),
            sandbox=settings.sandbox,
        )
