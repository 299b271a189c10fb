"""The memory of attribution from window to window, and how it is stored."""

import zlib
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.baselines.latency_baseline import (
    LatencyBaseline,
    new_latency_baseline,
)
from mudra.metrics.attribution.baselines.rate_baseline import RateBaseline, new_rate_baseline
from mudra.metrics.attribution.baselines.reporters import ReporterHistory, new_history
from mudra.metrics.attribution.causes.active import Active
from mudra.metrics.attribution.evidence.lanes import Floats
from mudra.metrics.attribution.sequential import Running, no_evidence

FORMAT: Final = 5


class State(Struct, frozen=True):
    """All of it; arrays are sized by the numbers of AAs and FIPs."""

    window: int
    """The last window that was evaluated; -1 before the first."""
    rates: RateBaseline
    latency: LatencyBaseline
    running: Running
    known: tuple[Active, ...]
    previous_requests: Floats
    silent_windows: Floats
    history: ReporterHistory
    next_number: int = 1
    format: int = FORMAT


class _OfFormat(Struct):
    """A state of which nothing else is read: its arrays have a nation's 28 MB."""

    format: int = 0


class UnknownFormat(Exception):
    """The stored state is of another version; recompute it from stored evidence."""


def new_state(aas: int, fips: int) -> State:
    """Nothing known yet."""
    return State(
        window=-1,
        rates=new_rate_baseline(aas, fips),
        latency=new_latency_baseline(aas, fips),
        running=no_evidence(aas, fips),
        known=(),
        previous_requests=np.zeros((2, aas, fips), np.float32),
        silent_windows=np.zeros(aas, np.float32),
        history=new_history(aas),
    )


def grown(state: State, aas: int, fips: int) -> State:
    """The state with room for members that joined; they get the indices after the last ones."""
    empty = new_state(aas, fips)
    known = tuple(
        replace(
            one,
            part_aa=_inside(np.zeros(aas, np.float32), one.part_aa),
            part_fip=_inside(np.zeros(fips, np.float32), one.part_fip),
        )
        for one in state.known
    )
    parts = {
        name: _grown_part(getattr(empty, name), getattr(state, name))
        for name in ("rates", "latency", "running", "history")
    }
    return replace(
        state,
        known=known,
        previous_requests=_inside(empty.previous_requests, state.previous_requests),
        silent_windows=_inside(empty.silent_windows, state.silent_windows),
        **parts,
    )


def _grown_part(empty: Struct, old: Struct) -> Struct:
    return replace(
        empty,
        **{
            name: _inside(room, before)
            if isinstance(room := getattr(empty, name), np.ndarray)
            else _grown_part(room, before)
            for name in empty.__struct_fields__
            for before in (getattr(old, name),)
        },
    )


def _inside(room: Floats, old: Floats) -> Floats:
    room[tuple(slice(0, size) for size in old.shape)] = old
    return room


def state_to_bytes(state: State) -> bytes:
    """Pack the state, compressed; the same state gives the same bytes."""
    return zlib.compress(msgspec.msgpack.encode(state, enc_hook=_encode), 1)


def state_from_bytes(data: bytes) -> State:
    """Unpack a state.

    Raises:
        UnknownFormat: it was written by another version.
    """
    raw = zlib.decompress(data)
    if msgspec.msgpack.decode(raw, type=_OfFormat).format != FORMAT:
        raise UnknownFormat(
            f"the stored state is not of format {FORMAT}; evaluate its windows again"
        )
    return msgspec.msgpack.decode(raw, type=State, dec_hook=_decode)


def _encode(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    raise NotImplementedError(f"{type(value)} has no stored form")


def _decode(_: type, value: Any) -> Any:
    dtype, shape, data = value
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape).copy()
