"""Verdicts and incidents in words."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.health.attribution import Blame, Verdict
from mudra.metrics.health.status_history import api_words
from mudra.metrics.incidents.incident import AaCalls, AaReporting, Ending, FipApi, Incident, Subject

BLAMED: Final = {
    Blame.FIP: "the FIP's fault",
    Blame.PATH_OR_AA: "the path or the AA",
    Blame.NETWORK: "the network, or the AA as a whole",
    Blame.UNSURE: "nothing to compare with",
}
LETTERS: Final = {Blame.FIP: "F", Blame.PATH_OR_AA: "P", Blame.NETWORK: "N", Blame.UNSURE: "?"}


class Finding(Struct, frozen=True):
    """Some bad cells that share a cause, and the counts behind that."""

    heading: str
    counts: str
    fip_id: str
    aa_id: str


def findings(verdicts: Sequence[Verdict]) -> list[Finding]:
    """One line for each cause: a fallen FIP is told once, not once for each AA."""
    found: list[Finding] = []
    told: set[tuple[Blame, str]] = set()
    for verdict in verdicts:
        key = (verdict.blame, _whose(verdict))
        if key not in told:
            told.add(key)
            found.append(_finding(verdict))
    return found


def counts_behind(verdict: Verdict) -> str:
    """The counts behind one verdict."""
    return (
        f"{_of(verdict.other_aas_bad, verdict.other_aas, 'other AA')} see this FIP bad; "
        f"{_of(verdict.other_fips_bad, verdict.other_fips, 'other FIP')} look bad from this AA"
    )


def subject_words(subject: Subject) -> str:
    """What an incident is about."""
    match subject:
        case FipApi(fip_id, code):
            return f"{fip_id}: {api_words(code)}"
        case AaCalls(aa_id):
            return f"{aa_id}: calls to FIPs"
        case AaReporting(aa_id):
            return f"{aa_id}: reports missing"


def state_words(incident: Incident) -> tuple[str, str]:
    """How an incident stands, with the tone of its tag."""
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
            counts = f"bad as seen by {bad} of {_many(aas, 'AA')} with enough calls"
            return Finding(f"{cell.fip_id} is at fault", counts, cell.fip_id, "")
        case Blame.NETWORK:
            bad, fips = verdict.other_fips_bad + 1, verdict.other_fips + 1
            counts = f"{bad} of {_many(fips, 'FIP')} with enough calls look bad from it"
            return Finding(f"{cell.aa_id} or its network", counts, "", cell.aa_id)
        case Blame.PATH_OR_AA:
            heading = f"The path between {cell.aa_id} and {cell.fip_id}"
        case Blame.UNSURE:
            heading = f"{cell.aa_id} and {cell.fip_id}: cannot be told"
    return Finding(heading, counts_behind(verdict), cell.fip_id, cell.aa_id)


def _whose(verdict: Verdict) -> str:
    cell = verdict.cell
    if verdict.blame is Blame.FIP:
        return cell.fip_id
    return cell.aa_id if verdict.blame is Blame.NETWORK else f"{cell.aa_id} {cell.fip_id}"


def _of(some: int, all_: int, what: str) -> str:
    return f"{some} of {_many(all_, what)}" if all_ else f"no {what} to compare with, so none"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
