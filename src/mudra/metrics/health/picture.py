"""The picture of the network: sums by FIP, AA, pair and API, each with its proof."""

import enum

from msgspec import Struct

from mudra.metrics.health.health import FiOutcomes, Health, Status
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import Proof
from mudra.metrics.sums.rollup import ResponseTime


class Grouping(enum.StrEnum):
    """The subject of one row of a picture; an empty ID means all."""

    NETWORK = "network"
    FIP = "fip"
    AA = "aa"
    PAIR = "pair"


class Subject(Struct, frozen=True, gc=False):
    """The AA and FIP of a row; empty for all."""

    aa_id: str
    fip_id: str


class ApiPicture(Struct, frozen=True, gc=False):
    """One API: `health` is None for the two timings, which cannot fail."""

    tag: Tag
    type: str
    health: Health | None
    time: ResponseTime | None
    data_bytes: int | None
    outcomes: FiOutcomes | None


class Row(Struct, frozen=True):
    """One subject with its APIs, and the share of expected reports that was received."""

    subject: Subject
    apis: tuple[ApiPicture, ...]
    proof: Proof


class MatrixCell(Struct, frozen=True, gc=False):
    """The calls of one AA to one FIP; the status is that of the counts, whatever its cause."""

    aa_id: str
    fip_id: str
    status: Status
    succeeded: int
    eligible: int


class Verdict(Struct, frozen=True):
    """One cause of a cell's troubles in the time of the matrix."""

    aa_id: str
    fip_id: str
    cause: StoredIncident


class Matrix(Struct, frozen=True):
    """AA x FIP, the causes of the time, and which of them explain which cell."""

    cells: tuple[MatrixCell, ...]
    causes: tuple[StoredIncident, ...]
    verdicts: tuple[Verdict, ...]
