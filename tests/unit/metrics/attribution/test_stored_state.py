"""What attribution stores between windows is by API and lane: another order needs another format."""

from mudra.metrics.attribution.evidence.lanes import APIS, LANES
from mudra.metrics.attribution.state import new_state


def test_a_state_by_other_types_or_lanes_has_another_format() -> None:
    """With a type or a lane more, `FORMAT` in metrics/attribution/state.py rises, and this with it."""
    apis = (
        *("adisc", "alink", "adlink", "alinkv", "cns", "cnot", "fireq", "fif", "hbt"),
        *("finot", "alnot", "cnot-received", "sfireqnot", "ffireqnot"),
    )

    assert (new_state(aas=1, fips=1).format, APIS, len(LANES)) == (5, apis, 61)
