"""Labels of verdicts and incidents."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.health.attribution import Blame, Verdict
from mudra.metrics.health.status_history import api_name
from mudra.metrics.incidents.incident import AaCalls, AaReporting, Ending, FipApi, Incident, Subject

BLAMED: Final = {
    Blame.FIP: "the FIP",
    Blame.PATH_OR_AA: "the path or the AA",
    Blame.NETWORK: "the AA's own network",
    Blame.UNSURE: "nothing to compare with",
}
BLAME_MARKS: Final = {Blame.FIP: "F", Blame.PATH_OR_AA: "P", Blame.NETWORK: "N", Blame.UNSURE: "?"}


class Finding(Struct, frozen=True):
    """Bad cells that share a cause, and the counts that it follows from."""

    heading: str
    counts: str
    fip_id: str
    aa_id: str


def findings(verdicts: Sequence[Verdict]) -> list[Finding]:
    """Returns one line for each cause: a failing FIP is listed once, not once for each AA."""
    found: list[Finding] = []
    seen: set[tuple[Blame, str]] = set()
    for verdict in verdicts:
        key = (verdict.blame, _subject(verdict))
        if key not in seen:
            seen.add(key)
            found.append(_finding(verdict))
    return found


def counts_behind(verdict: Verdict) -> str:
    """Returns the counts that one verdict follows from."""
    return (
        f"{_of(verdict.other_aas_bad, verdict.other_aas, 'other AA')} see this FIP failing; "
        f"{_of(verdict.other_fips_bad, verdict.other_fips, 'other FIP')} fail from this AA"
    )


def subject_label(subject: Subject) -> str:
    """Returns the label of an incident's subject."""
    match subject:
        case FipApi(fip_id, code):
            return f"{fip_id}: {api_name(code)}"
        case AaCalls(aa_id):
            return f"{aa_id}: calls to FIPs"
        case AaReporting(aa_id):
            return f"{aa_id}: missing reports"


def state_label(incident: Incident) -> tuple[str, str]:
    """Returns the state of an incident, with the tone of its tag."""
    return {
        Ending.OPEN: ("open", "bad"),
        Ending.RECOVERED: ("recovered", "good"),
        Ending.NO_DATA: ("no data since", "warn"),
    }[incident.ending]


def _finding(verdict: Verdict) -> Finding:
    cell = verdict.cell
    match verdict.blame:
        case Blame.FIP:
            bad, aas = verdict.other_aas_bad + 1, verdict.other_aas + 1
            counts = _seen_by(bad, aas)
            return Finding(f"{cell.fip_id} is failing", counts, cell.fip_id, "")
        case Blame.NETWORK:
            bad, fips = verdict.other_fips_bad + 1, verdict.other_fips + 1
            counts = f"{bad} of {_many(fips, 'FIP')} with enough traffic fail from this AA"
            return Finding(f"{cell.aa_id} or its network", counts, "", cell.aa_id)
        case Blame.PATH_OR_AA:
            heading = f"The path between {cell.aa_id} and {cell.fip_id}"
        case Blame.UNSURE:
            heading = f"{cell.aa_id} and {cell.fip_id}: cause not known"
    return Finding(heading, counts_behind(verdict), cell.fip_id, cell.aa_id)


def _subject(verdict: Verdict) -> str:
    cell = verdict.cell
    if verdict.blame is Blame.FIP:
        return cell.fip_id
    return cell.aa_id if verdict.blame is Blame.NETWORK else f"{cell.aa_id} {cell.fip_id}"


def _seen_by(bad: int, aas: int) -> str:
    if bad == aas:
        which = {1: "the only AA", 2: "both AAs"}.get(aas, f"all {aas} AAs")
        return f"{which} with enough traffic {'sees' if aas == 1 else 'see'} it failing"
    return f"{bad} of {_many(aas, 'AA')} with enough traffic see it failing"


def _of(some: int, all_: int, what: str) -> str:
    return f"{some} of {_many(all_, what)}" if all_ else f"no {what} to compare with, so none"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
