"""The patterns of whole string columns (see `codes`), computed by arithmetic on their byte buffers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.codes import BLOCK, FIRST_SYMBOL, Bytes

Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_FEW_RUNS = 1024  # of so few, the bits are joined run by run: one step instead of a dozen


def count_patterns(codes: Bytes, offsets: Integers, weights: Integers | None) -> tuple[pa.Array, Integers]:
    """The patterns that occur, in symbol codes, and how many values have each."""
    symbols = [_replace_runs(codes[own[0] : own[-1]], own - own[0]) for own in cut_blocks(offsets)]
    encoded = pa.concat_arrays(symbols).dictionary_encode()
    indices = encoded.indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(indices, weights, len(encoded.dictionary))
    return encoded.dictionary, counts.astype(np.int64)


def cut_blocks(offsets: Integers) -> list[Integers]:
    """The offsets of blocks of values with about `BLOCK` bytes, so that several passes find one in the cache."""
    if offsets[-1] <= BLOCK:
        return [offsets]
    cuts = np.searchsorted(offsets, np.arange(BLOCK, offsets[-1], BLOCK)).tolist()
    ends = sorted({*cuts, len(offsets) - 1} - {0})
    return [offsets[start : end + 1] for start, end in zip([0, *ends], ends, strict=False)]


def _replace_runs(codes: Bytes, offsets: Integers) -> pa.Array:
    """One symbol for each run: the union of its bits for letters and digits, the character itself for the rest."""
    count = len(offsets) - 1
    if not len(codes):
        return pa.array([b""] * count, pa.large_binary())
    begins = _mark_runs(codes, offsets[:-1])
    starts = np.flatnonzero(begins)
    if len(starts) <= _FEW_RUNS:
        symbols = np.bitwise_or.reduceat(codes, starts)
    else:
        symbols = _join_bits(codes, begins, _longest_run(starts, len(codes)))[starts]
    sizes = np.searchsorted(starts, offsets)
    buffers = [None, pa.py_buffer(sizes.astype(np.int64, copy=False)), pa.py_buffer(symbols)]
    return pa.Array.from_buffers(pa.large_binary(), count, buffers)


def _mark_runs(codes: Bytes, starts: Integers) -> Marks:
    """Whether a run begins at each byte."""
    words = codes < FIRST_SYMBOL
    begins = np.empty(len(codes), np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=begins[1:])
    both = words[1:] & words[:-1]
    np.greater(begins[1:], both, out=begins[1:])
    begins[0] = True
    begins[starts if starts[-1] < len(codes) else starts[starts < len(codes)]] = True
    return begins


def _longest_run(starts: Integers, end: int) -> int:
    return max(int((starts[1:] - starts[:-1]).max(initial=1)), end - int(starts[-1]))


def _join_bits(codes: Bytes, begins: Marks, longest: int) -> Bytes:
    """At the start of each run the union of the bits of its bytes, by a segmented scan that doubles its step."""
    union, scratch = codes.copy(), np.empty_like(codes)
    # all bits are set where the byte is in the same run as the byte before
    reaches, shifted = np.subtract(begins.view(np.uint8), 1), np.empty_like(codes)
    step = 1
    while step < longest:
        taken = np.bitwise_and(union[step:], reaches[step:], out=scratch[step:])
        np.bitwise_or(union[:-step], taken, out=union[:-step])
        if 2 * step < longest:
            np.bitwise_and(reaches[step:], reaches[:-step], out=shifted[step:])
            shifted[:step] = 0
            reaches, shifted = shifted, reaches
        step *= 2
    return union
