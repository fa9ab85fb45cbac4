"""A KLL quantile sketch in Apache DataSketches' bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from datasketches import kll_doubles_sketch

from headgate.values.state import MOST, State

K = 200


class Quantiles(State, frozen=True, tag="quantiles"):
    """The distribution of numbers as a KLL sketch (Karnin, Lang and Liberty 2016) with k = 200.

    A rank is off by at most 1.33% with 99% confidence, whatever the number of values. Its compaction is random: equal
    data give equal ranks within that error, not equal bytes.
    """

    sketch: bytes = b""

    @classmethod
    def of(cls, values: npt.NDArray[np.float64]) -> Quantiles:
        if not len(values):
            return cls()
        sketch = kll_doubles_sketch(K)
        sketch.update(np.require(values, np.float64, ["C", "W"]))
        return cls(sketch.serialize())

    def __add__(self, other: Quantiles) -> Quantiles:
        if not self.sketch or not other.sketch:
            return self if self.sketch else other
        merged = self.open_sketch()
        merged.merge(other.open_sketch())
        return Quantiles(merged.serialize())

    @classmethod
    def merge_all(cls, states: Sequence[Quantiles]) -> Quantiles:
        held = [each for each in states if each.sketch]
        if len(held) < 2:
            return held[0] if held else cls()
        merged = held[0].open_sketch()
        for each in held[1:]:
            merged.merge(kll_doubles_sketch.deserialize(each.sketch))
        return cls(merged.serialize())

    def is_sound(self) -> bool:
        if not self.sketch:
            return True
        sketch = self.open_sketch()
        finite = bool(np.isfinite([sketch.get_min_value(), sketch.get_max_value()]).all())
        return sketch.k == K and 0 < sketch.n < MOST and finite and len(self.sketch) == len(sketch.serialize())

    def open_sketch(self) -> kll_doubles_sketch:
        """The sketch itself; an empty one for the identity."""
        return kll_doubles_sketch.deserialize(self.sketch) if self.sketch else kll_doubles_sketch(K)
