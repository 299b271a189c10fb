"""Responses about the network's health, as JSON and CSV; unknown values are null, never 0."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET, Struct, UnsetType, field

from mudra.http.response.alarm_responses import IncidentDetails, incident_details
from mudra.http.response.response_body import ResponseBody
from mudra.metrics.health.feed import FeedTime
from mudra.metrics.health.health import (
    ErrorDetails,
    FiOutcomes,
    Health,
    Status,
)
from mudra.metrics.health.picture import ApiPicture, CellDetails, Matrix, Row, Verdict
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.subject import SubjectKind, name_of
from mudra.metrics.public_status.public_rows import PublicRow
from mudra.metrics.rollup.coverage import Proof, TimeRange
from mudra.metrics.sums.rollup import ResponseTime
from mudra.shared.text.csv_file import csv_text
from mudra.shared.time_text import iso_ms


class PercentileDetails(Struct, gc=False):
    """Milliseconds: an estimate; where one report says it, `low` and `high` are the same value."""

    estimate: int
    low: int | UnsetType = UNSET
    high: int | UnsetType = UNSET


class TimeDetails(Struct, rename="camel", gc=False):
    """Milliseconds over the answered calls.

    The percentiles of sums are estimates: p50 and p95 usually within 3 %, p99 within 10 %. Those of
    one window of a pair are as reported. p100 is exact.
    """

    samples: int
    p50: PercentileDetails
    p95: PercentileDetails
    p99: PercentileDetails
    p100: int


class ApiDetails(Struct, rename="camel", kw_only=True, gc=False):
    """One API."""

    tag: str
    type: str
    requests: int | None
    succeeded: int | None
    eligible: int | None = field(name="judged")
    success_rate: float | None
    errors: ErrorDetails | None
    status: Status | None
    certain: bool | None
    outvoted_aas: list[str]
    """AAs whose calls the status leaves out: most others see the opposite."""
    time: TimeDetails | None
    data_bytes: str | None
    fi_requests: FiOutcomes | None


class ProofDetails(Struct, rename="camel"):
    """The number of expected reports that were received."""

    reporters_seen: int = field(name="reportersHeard")
    reporters_expected: int
    windows_received: int = field(name="windowsHeard")
    windows_expected: int
    complete: bool


class RowDetails(Struct, rename="camel"):
    """One subject; an empty ID means all."""

    aa_id: str
    fip_id: str
    apis: list[ApiDetails]
    proof: ProofDetails


class VerdictDetails(Struct, rename="camel"):
    """A cause that explains a cell: its kind, and its incident among `causes`."""

    aa_id: str
    fip_id: str
    blame: SubjectKind
    incident_id: str


class MaintenanceDetails(Struct, rename="camel"):
    """A planned maintenance: nothing is judged about the entity from `begins` until `ends`."""

    entity_id: str
    begins: str
    ends: str


class PictureResponse(ResponseBody, kw_only=True):
    """Rows of health."""

    start: str = field(name="from")
    end: str = field(name="to")
    rows: list[RowDetails]
    maintenance: list[MaintenanceDetails]


class MatrixResponse(ResponseBody, kw_only=True):
    """AA x FIP. `causes` are those of the time, also of AAs whose reports are missing."""

    start: str = field(name="from")
    end: str = field(name="to")
    cells: list[CellDetails]
    causes: list[IncidentDetails]
    verdicts: list[VerdictDetails]
    proof: ProofDetails
    maintenance: list[MaintenanceDetails]


class PublicStatusResponse(Struct):
    """The status of the network for everyone."""

    time_range: FeedTime
    fips: list[PublicRow]


def picture_response(
    within: TimeRange, rows: Iterable[Row], planned: Sequence[Silence]
) -> PictureResponse:
    """Return rows as the wire has them, with the maintenances that touch their time."""
    return PictureResponse(
        start=iso_ms(within.start),
        end=iso_ms(within.end),
        rows=[_row(row) for row in rows],
        maintenance=_maintenances(planned),
    )


def _maintenances(planned: Sequence[Silence]) -> list[MaintenanceDetails]:
    return [
        MaintenanceDetails(one.entity_id, iso_ms(one.begins), iso_ms(one.ends)) for one in planned
    ]


def matrix_response(
    within: TimeRange, matrix: Matrix, proof: Proof, planned: Sequence[Silence]
) -> MatrixResponse:
    """Return the matrix as the wire has it: its cells, causes, and which explains which cell."""
    return MatrixResponse(
        start=iso_ms(within.start),
        end=iso_ms(within.end),
        cells=list(matrix.cells),
        causes=[incident_details(one) for one in matrix.causes],
        verdicts=[_verdict(verdict) for verdict in matrix.verdicts],
        proof=proof_details(proof),
        maintenance=_maintenances(planned),
    )


def rows_as_csv(rows: Iterable[Row]) -> str:
    """Return one line for each subject and API (RFC 4180)."""
    return csv_text(
        _CSV,
        (
            [row.subject.aa_id, row.subject.fip_id, *_numbers(api), *_reports(row)]
            for row in rows
            for api in row.apis
        ),
    )


_CSV = [
    *("aaId", "fipId", "tag", "type", "status", "requests", "succeeded", "judged"),
    *("notFound404", "other4xx", "server5xx", "noAnswer"),
    *("p50", "p95", "p99", "p100"),
    *("dataBytes", "reportersHeard", "reportersExpected", "windowsHeard", "windowsExpected"),
]


def _numbers(api: ApiPicture) -> list[object]:
    health, time = api.health, api.time
    counts: list[object] = [None] * 8
    if health is not None:
        e = health.errors
        counts = [health.status.value, health.total, health.succeeded, health.eligible]
        counts += [e.not_found_404, e.other_4xx, e.server_5xx, e.no_answer]
    times: list[object] = [None] * 4
    if time is not None:
        times = [time.p50, time.p95, time.p99, time.p100]
    return [api.tag.value, api.type, *counts, *times, api.data_bytes]


def _reports(row: Row) -> list[object]:
    proof = row.proof
    return [
        proof.reporters_seen,
        proof.reporters_expected,
        proof.windows_received,
        proof.windows_expected,
    ]


def proof_details(proof: Proof) -> ProofDetails:
    """Return how many reports were received, as the wire has it."""
    return ProofDetails(
        proof.reporters_seen,
        proof.reporters_expected,
        proof.windows_received,
        proof.windows_expected,
        proof.complete,
    )


def _row(row: Row) -> RowDetails:
    apis = [_api(api) for api in row.apis]
    return RowDetails(row.subject.aa_id, row.subject.fip_id, apis, proof_details(row.proof))


def _api(api: ApiPicture) -> ApiDetails:
    health: Health | None = api.health
    return ApiDetails(
        tag=api.tag.value,
        type=api.type,
        requests=health.total if health else None,
        succeeded=health.succeeded if health else None,
        eligible=health.eligible if health else None,
        success_rate=health.success if health else None,
        errors=health.errors if health else None,
        status=health.status if health else None,
        certain=health.certain if health else None,
        outvoted_aas=list(health.outvoted) if health else [],
        time=_time(api.time) if api.time else None,
        data_bytes=None if api.data_bytes is None else str(api.data_bytes),
        fi_requests=api.outcomes,
    )


def _time(time: ResponseTime) -> TimeDetails:
    p50, p95, p99 = (
        PercentileDetails(one, one, one) if time.reported else PercentileDetails(one)
        for one in (time.p50, time.p95, time.p99)
    )
    return TimeDetails(time.samples, p50, p95, p99, time.p100)


def _verdict(verdict: Verdict) -> VerdictDetails:
    cause = verdict.cause
    return VerdictDetails(
        verdict.aa_id, verdict.fip_id, name_of(cause.incident.subject).kind, cause.incident_id
    )
