"""Integers as few bytes.

Tested by `tests/metrics/test_quantiles.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_WIDTHS = (1, 2, 4, 8)  # bytes


def pack_integers(numbers: Integers) -> bytes:
    """Integers from 0 to 2**64 - 1, with as few bytes for each as the largest needs; the first byte says how many.

    >>> pack_integers(np.array([1, 2, 300]))
    b'\\x02\\x01\\x00\\x02\\x00,\\x01'
    """
    largest = int(np.ascontiguousarray(numbers, np.int64).view(np.uint64).max(initial=0))
    width = next(each for each in _WIDTHS if largest < 1 << 8 * each)
    return bytes([width]) + numbers.astype(f"<u{width}").tobytes()


def unpack_integers(packed: bytes) -> Integers:
    """The integers that were packed; those of 2**63 and more become negative."""
    if not packed or packed[0] not in _WIDTHS:
        raise ValueError("these are not packed integers")
    return np.frombuffer(packed, f"<u{packed[0]}", offset=1).astype(np.int64)
