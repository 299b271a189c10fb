"""Draw the picture of docs/explanation/whose-fault.md.

    python -m tools.attribution_picture docs/images/whose-fault.svg

Left: one window of a simulated network in which a FIP, an AA and a path fail.
Right: the evidence against a small FIP as it adds up over windows.
"""

import sys
from pathlib import Path

import numpy as np
from bench.truth_faults import Fault, FaultKind
from bench.truth_network import Network, Settings

from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import LANES_OF, Symptom
from mudra.metrics.attribution.sequential import alarm_level
from mudra.metrics.attribution.state import new_state

AAS, FIPS = 8, 24
FIRST = 144 * 20_000
FALL = FIRST + 190
WINDOWS = 14
BAD_AA, BAD_FIP, PATH = 2, 7, (5, 16)
CELL = 17
MATRIX_X, TOP = 44, 48
CHART_X, CHART_WIDTH, CHART_HEIGHT = 520, 330, 136

_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="880" height="236" '
    'font-family="sans-serif" font-size="11" fill="#222" style="background:#fff">'
)
_LEFT = "One window: failing calls; a row an AA, a column a FIP"
_RIGHT = "A FIP with 2 calls a window: evidence adds up"
_OPENING = "The next window crosses the line and opens the incident."


def main(target: Path) -> None:
    """Simulate, draw and write."""
    network = Network(Settings(AAS, FIPS, 12, smallest=30, largest=3000))
    small = int(np.argmin(network.volume.sum((0, 1))))
    network.volume[:, :, small] *= 2.0 / network.volume[:, :, small].sum()
    faults = [
        Fault(FaultKind.FIP_DOWN, FALL, FALL + 99, 0.9, -1, BAD_FIP),
        Fault(FaultKind.AA_DOWN, FALL, FALL + 99, 0.6, BAD_AA),
        Fault(FaultKind.PATH, FALL, FALL + 99, 0.8, *PATH),
        Fault(FaultKind.SMALL_FIP_DOWN, FALL, FALL + 99, 1.0, -1, small),
    ]
    state = new_state(AAS, FIPS)
    sums: list[float] = []
    shares = np.zeros((AAS, FIPS))
    found: list[int] = []
    for window in range(FIRST, FALL + WINDOWS):
        evidence = _evidence(network, faults, window)
        judgement = evaluate_window(evidence, state)
        state = judgement.state
        if window == FALL + 1:
            shares = _shares(evidence)
        named = any(cause.locus.fip == small for cause in judgement.causes)
        if window >= FALL - 3:
            sums.append(float(state.running.bounded.fip[:, Symptom.FAILURES, small].max()))
            found += [window] if named else []
    level = alarm_level(AAS, FIPS)
    detected = found[0] - (FALL - 3) if found else len(sums)
    target.write_text(_drawing(shares, sums[:detected], level), encoding="utf-8")


def _evidence(network: Network, faults: list[Fault], window: int) -> Evidence:
    odds = network.odds(window)
    for fault in faults:
        fault.apply(odds, window)
    return network.draw(window, odds).evidence


def _shares(evidence: Evidence) -> np.ndarray:
    lanes = slice(0, LANES_OF[Symptom.FAILURES].stop - 3)
    answered = (evidence.total - evidence.client_errors)[lanes].sum(0)
    failed = evidence.failed[lanes].sum(0)
    return np.where(answered > 0, failed / np.maximum(answered, 1), -1.0)


def _drawing(shares: np.ndarray, sums: list[float], level: float) -> str:
    parts = [
        _HEAD,
        '<rect width="880" height="236" fill="#fff"/>',
        f'<text x="{MATRIX_X}" y="20" font-size="13">{_LEFT}</text>',
        f'<text x="{CHART_X}" y="20" font-size="13">{_RIGHT}</text>',
        *_matrix(shares),
        *_chart(sums, level),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _matrix(shares: np.ndarray) -> list[str]:
    parts = []
    for (aa, fip), share in np.ndenumerate(shares):
        fill = "#f4f4f4" if share < 0 else _red(share)
        parts.append(
            f'<rect x="{MATRIX_X + fip * CELL}" y="{TOP + aa * CELL}" width="{CELL - 1}" '
            f'height="{CELL - 1}" fill="{fill}" stroke="#ddd" stroke-width="0.5"/>'
        )
    bottom = TOP + AAS * CELL
    labels = [
        (MATRIX_X + BAD_FIP * CELL - 6, bottom + 16, "FIP: all AAs see it"),
        (MATRIX_X + PATH[1] * CELL - 20, bottom + 16, "path: one AA, one FIP"),
        (4, TOP + BAD_AA * CELL + 12, "AA →"),
        (MATRIX_X, bottom + 36, "red: failing; gray: no calls. Crossing faults are three causes."),
    ]
    parts += [f'<text x="{x}" y="{y}">{text}</text>' for x, y, text in labels]
    return parts


def _red(share: float) -> str:
    shade = 255 - int(215 * min(share * 1.1, 1.0))
    return f"rgb({255 - int(40 * share)},{shade},{shade})"


def _chart(sums: list[float], level: float) -> list[str]:
    top = level * 1.25
    step = CHART_WIDTH / max(len(sums), 1)
    base = TOP + CHART_HEIGHT
    line = base - CHART_HEIGHT * level / top
    bars = [
        f'<rect x="{CHART_X + place * step:.1f}" y="{base - CHART_HEIGHT * value / top:.1f}" '
        f'width="{step * 0.7:.1f}" height="{CHART_HEIGHT * value / top:.1f}" fill="#b5483a"/>'
        for place, value in enumerate(sums)
    ]
    fall = CHART_X + 3 * step
    return [
        *bars,
        _rule(line, 'stroke="#222" stroke-dasharray="4 3"'),
        f'<text x="{CHART_X}" y="{line - 5:.1f}">alarm: {level:.1f} nats for this network</text>',
        _rule(base, 'stroke="#888"'),
        f'<text x="{fall:.1f}" y="{base + 16}">it falls silent here; each bar is a window</text>',
        f'<text x="{CHART_X}" y="{base + 36}">{_OPENING}</text>',
    ]


def _rule(height: float, style: str) -> str:
    ends = f'x1="{CHART_X}" x2="{CHART_X + CHART_WIDTH}" y1="{height:.1f}" y2="{height:.1f}"'
    return f"<line {ends} {style}/>"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
