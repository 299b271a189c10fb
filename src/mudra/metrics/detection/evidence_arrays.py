"""From the calls of a window to the arrays that attribution judges.

Loaded in the jobs process only.
"""

from collections.abc import Mapping

import numpy as np

from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.detection.window_calls import Part, WindowCalls
from mudra.metrics.detection.window_reports import WindowReports
from mudra.metrics.payload.catalogue import window_number


def evidence_of(
    reports: WindowReports, calls: WindowCalls, aas: Mapping[str, int], fips: Mapping[str, int]
) -> Evidence:
    """Returns the evidence of a window, by the indices of AAs and FIPs; others are left out."""
    window = window_number(reports.window)
    evidence = empty_evidence(window, len(aas), len(fips), volumes_checked=True)
    for flags, named in (
        (evidence.expected, reports.expected),
        (evidence.reported, reports.requests.keys()),
        (evidence.notified, reports.notifications),
        (evidence.late, reports.late),
        (evidence.maintained_aas, reports.maintained),
    ):
        flags[:] = [aa_id in named for aa_id in aas]
    evidence.maintained_fips[:] = [fip_id in reports.maintained for fip_id in fips]
    aa_at = np.array([aas.get(name, -1) for name in calls.ids], np.int32)
    fip_at = np.array([fips.get(name, -1) for name in calls.ids], np.int32)

    def placed(part: Part) -> Part:
        """The part by the indices of the evidence."""
        *apis, aa, fip = part.at
        at = np.array((*apis, aa_at[aa], fip_at[fip]))
        kept = (at >= 0).all(0)
        return Part(at[:, kept], part.values[:, kept])

    for counts, times, statuses in (map(placed, block) for block in calls.blocks):
        where = tuple(counts.at)
        evidence.total[where], evidence.failed[where], evidence.client_errors[where] = counts.values
        evidence.samples[tuple(times.at)] = times.values[0]
        evidence.percentiles[tuple(times.at)] = times.values[1:].T
        evidence.statuses[(slice(None), *statuses.at)] = statuses.values
    return evidence
