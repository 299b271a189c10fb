"""The input of a run: the addresses of an implementation, and credentials at it."""

from urllib.parse import urlsplit

from msgspec import Struct

from mudra.conformance.check import Need
from mudra.shared.secret_text import SecretText


class EntityCredentials(Struct, frozen=True):
    """An entity's ID and secret."""

    entity_id: str
    secret: SecretText


class UserCredentials(Struct, frozen=True):
    """An admin's email address and password."""

    username: str
    password: SecretText


class Target(Struct, frozen=True, kw_only=True):
    """An implementation: `base_url` ends before `/v1`; `permits` are the needs by option."""

    base_url: str
    registry_url: str = ""
    metrics_url: str = ""
    entity: EntityCredentials | None = None
    user: UserCredentials | None = None
    aa: EntityCredentials | None = None
    expired: SecretText | None = None
    """An Entity Access Token that was right until it expired."""
    permits: frozenset[Need] = frozenset()

    @property
    def registry(self) -> str:
        """The address before `/entityInfo`; default: `/cr/v2` of the same host."""
        return (self.registry_url or f"{self._origin}/cr/v2").rstrip("/")

    @property
    def metrics(self) -> str:
        """The address of the push; default: `/metrics/perf/v1/push` of the same host."""
        return self.metrics_url or f"{self._origin}/metrics/perf/v1/push"

    @property
    def given(self) -> frozenset[Need]:
        """All needs that this run can meet."""
        found = set(self.permits)
        if Need.ALL_RESETS in found:
            found.add(Need.RESETS)
        for need, credentials in (
            (Need.ENTITY, self.entity),
            (Need.USER, self.user),
            (Need.AA, self.aa),
            (Need.EXPIRED_TOKEN, self.expired),
        ):
            if credentials is not None:
                found.add(need)
        return frozenset(found)

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"
