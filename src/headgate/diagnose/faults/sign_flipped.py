"""Values have the other sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.diagnose.column_pair import ColumnPair, Floats
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.mixture import fit_mixtures, measure_left
from headgate.values.diagnosis import FaultParameters

_LEAST = 0.01  # of the numbers


@fault
class SignFlipped(KnownFault):
    """Values times -1, of all rows or of a part of them."""

    name: ClassVar = "sign_flipped"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_numeric:
            return
        negative = [float(each.share_up_to(np.array([-1e-300]))[0]) for each in (pair.now, pair.before)]
        if abs(negative[0] - negative[1]) < _LEAST:  # as many numbers as before are below 0
            return
        [mixture] = fit_mixtures(pair, _negate, (1.0,), falls=True)
        if mixture.share:
            yield Fit(
                self.name,
                "has the other sign",
                measure_left(pair, mixture, lambda value: -value),
                (pair.label,),
                {},
                mixture.share,
                0.02 * (mixture.share < 1),
            )

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return pc.negate(values)


def _negate(numbers: Floats, _: float) -> Floats:
    return -numbers
