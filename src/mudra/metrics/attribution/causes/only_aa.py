"""The doubt that is left where one AA alone has calls: no one knows what others would see."""

from typing import Final

import numpy as np

from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.evidence.lanes import Floats

_OF_ALL: Final = {Kind.AA, Kind.AA_API, Kind.NETWORK}


def of_the_only_aa(locus: Locus, events: Floats) -> tuple[Locus, ...]:
    """Returns what fits as well as an AA or the network, by the events of lane x AA x FIP."""
    calling = np.flatnonzero(events.sum((0, 2)))
    if locus.kind not in _OF_ALL or len(calling) != 1:
        return ()
    is_network = locus.kind is Kind.NETWORK
    return (Locus(Kind.AA, int(calling[0])) if is_network else Locus(Kind.NETWORK),)
