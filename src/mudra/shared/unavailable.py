"""Reasons why a node cannot do its work for the moment: every edge answers them with 503."""

import enum
from typing import Final


class Outage(enum.StrEnum):
    """The cause of an outage, for the log and `/readyz`. Each has its own sentence."""

    UNREACHABLE = "unreachable"
    TOO_SLOW = "too-slow"
    READ_ONLY = "read-only"
    STANDBY = "standby"
    SUPERSEDED = "superseded"
    DISK_FULL = "disk-full"
    ALL_IN_USE = "all-in-use"
    CONNECTION_LIMIT = "connection-limit"
    SIGN_IN_REFUSED = "sign-in-refused"
    SCHEMA = "schema"
    CLOCK = "clock"
    MASTER_KEY = "master-key"
    SIGNING_KEY = "signing-key"
    STOPPING = "stopping"
    BUSY = "busy"
    DAMAGED = "damaged"


_SENTENCES: Final = {
    Outage.UNREACHABLE: "the service cannot reach its database",
    Outage.TOO_SLOW: "the service's database did not answer in time",
    Outage.READ_ONLY: "the service's database is read-only",
    Outage.STANDBY: "the service's database is a standby, which takes no changes",
    Outage.SUPERSEDED: "the service's database was replaced by another primary",
    Outage.DISK_FULL: "the disk of the service's database is full",
    Outage.ALL_IN_USE: "all connections to the service's database are in use",
    Outage.CONNECTION_LIMIT: "the service's database takes no more connections",
    Outage.SIGN_IN_REFUSED: "the service's database refuses its sign-in",
    Outage.SCHEMA: "the schema of the service's database is that of another release",
    Outage.CLOCK: "the clock of this node is wrong",
    Outage.MASTER_KEY: "this node has not all versions of the master key",
    Outage.SIGNING_KEY: "no signing key can be used yet",
    Outage.STOPPING: "this node is stopping",
    Outage.BUSY: "this node is too busy",
    Outage.DAMAGED: "stored metrics of this time are damaged, until the operator has repaired them",
}


class ServiceUnavailable(Exception):
    """This node cannot answer now, and may be able to soon.

    `sentence` is for callers; `detail`, for the log alone, says what the machine said.
    """

    def __init__(self, cause: Outage, detail: str = "", sentence: str = "") -> None:
        self.cause: Final = cause
        self.sentence: Final = sentence or _SENTENCES[cause]
        super().__init__(f"{self.sentence} ({detail})" if detail else self.sentence)


class DatabaseUnavailable(ServiceUnavailable):
    """The database did not answer; whether a write took place is unknown."""

    def __init__(
        self,
        detail: str = "",
        cause: Outage = Outage.UNREACHABLE,
        *,
        of_own_time: bool = False,
    ) -> None:
        """`of_own_time`: the time of one transaction was over, and another may have some left."""
        self.detail: Final = detail
        self.of_own_time: Final = of_own_time
        super().__init__(cause, detail)
