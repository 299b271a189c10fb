"""From the stored sums of a window to the arrays that attribution judges.

Loaded in the jobs process only: it imports numpy.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Final

import numpy as np

from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, TIMED_APIS, Api
from mudra.metrics.incidents.window_reports import CallSums, WindowReports
from mudra.metrics.payload.catalogue import WINDOW_SECONDS, NotificationType, Tag

_NOTIFICATIONS: Final = Tag.NOTIFICATIONS.value[:3]
_CONSENT_RECEIVED: Final = (_NOTIFICATIONS, NotificationType.CONSENT.value)


def window_number(window: datetime) -> int:
    """Returns the window as attribution counts it."""
    return int(window.timestamp()) // WINDOW_SECONDS


def evidence_of(
    reports: WindowReports, aas: Mapping[str, int], fips: Mapping[str, int]
) -> Evidence:
    """Returns the evidence of a window, by the indices of AAs and FIPs; others are left out."""
    evidence = empty_evidence(window_number(reports.window), len(aas), len(fips))
    for flags, named in (
        (evidence.expected, reports.expected),
        (evidence.reported, reports.requests.keys()),
        (evidence.notified, reports.notifications),
        (evidence.late, reports.late),
        (evidence.maintained_aas, reports.maintained),
    ):
        flags[:] = [aa_id in named for aa_id in aas]
    evidence.maintained_fips[:] = [fip_id in reports.maintained for fip_id in fips]
    calls = [one for one in reports.calls if one.fip_id in fips and one.aa_id in aas]
    _add_calls(evidence, [one for one in calls if _api(one) in _CALL_PLACES], aas, fips)
    _add_times(evidence, [one for one in calls if one.percentiles is not None], aas, fips)
    for one in calls:
        if one.statuses is not None:
            evidence.statuses[:, aas[one.aa_id], fips[one.fip_id]] = one.statuses
    return evidence


def _add_calls(
    evidence: Evidence, calls: Sequence[CallSums], aas: Mapping[str, int], fips: Mapping[str, int]
) -> None:
    if not calls:
        return
    place = (
        [_CALL_PLACES[_api(one)] for one in calls],
        [aas[one.aa_id] for one in calls],
        [fips[one.fip_id] for one in calls],
    )
    counts = np.array([(one.total, one.succeeded, one.client_errors) for one in calls], np.float64)
    total, succeeded, client_errors = counts.T
    evidence.total[place] = total
    evidence.client_errors[place] = client_errors
    # 5xx, no answer, and answers that spec 2.5 has no position for.
    evidence.failed[place] = total - succeeded - client_errors


def _add_times(
    evidence: Evidence, calls: Sequence[CallSums], aas: Mapping[str, int], fips: Mapping[str, int]
) -> None:
    if not calls:
        return
    place = (
        [_TIMED_PLACES[_api(one)] for one in calls],
        [aas[one.aa_id] for one in calls],
        [fips[one.fip_id] for one in calls],
    )
    evidence.samples[place] = [one.answered for one in calls]
    flat = chain.from_iterable(one.percentiles or () for one in calls)
    evidence.percentiles[place] = np.fromiter(flat, np.float64).reshape(len(calls), -1)


def _api(one: CallSums) -> Api:
    key = (one.tag, one.type)
    return Api.CONSENT_RECEIVED if key == _CONSENT_RECEIVED else Api(one.type)


_CALL_PLACES: Final = {api: place for place, api in enumerate(CALL_APIS)}
_TIMED_PLACES: Final = {api: place for place, api in enumerate(TIMED_APIS)}
