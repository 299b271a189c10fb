"""Settings of the registry."""

from dataclasses import dataclass

from mudra.settings import parse
from mudra.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class RegistrySettings:
    """The readers of the registry's entries, and the people who decide on them."""

    # fmt: off
    registry_prefixes: tuple[str, ...] = setting("REGISTRY_PREFIXES", ("/cr/v2",), parse.paths,
        "paths, separated by commas",
        "registry addresses")
    registry_open: bool = setting("REGISTRY_OPEN", False, parse.flag, "true or false",
        "every entity sees every live entry of the registry")
    registry_published_responses: bool = setting("REGISTRY_PUBLISHED_RESPONSES", False, parse.flag,
        "true or false",
        "writes and refusals of the registry have `responseCode` as a number and the network's "
        "published `responseText`")
    registry_one_operator: bool | None = setting("REGISTRY_ONE_OPERATOR", None, parse.flag,
        "true or false",
        "one operator may approve the keys and addresses that the same one submitted; when not "
        "set: true in the sandbox, else false")
    registry_writes_per_hour: int = setting("REGISTRY_WRITES_PER_HOUR", 30, parse.whole(1, 100000),
        "1 to 100000",
        "submissions, updates and retirements of one requester in any hour, over all nodes")
