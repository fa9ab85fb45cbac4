"""What a sample says of a share in the population, with a stated confidence."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The ends of Wilson's score interval (1927) for a probability, given that so many of the trials succeeded.

    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), with z the normal quantile at (1 + confidence) / 2.
    Unlike the plain normal interval it is not empty at p = 0 and p = 1, and never leaves [0, 1].

    >>> low, high = wilson(28, 100)
    >>> round(low, 3), round(high, 3)
    (0.201, 0.375)
    >>> round(wilson(1000, 1000, confidence=0.998)[0], 4)
    0.9905
    """
    if not 0 <= successes <= trials or not 0 < confidence < 1:
        raise ValueError(f"no interval for {successes} of {trials} with confidence {confidence}")
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, per_trial = successes / trials, z * z / trials
    middle = share + per_trial / 2
    reach = z * math.sqrt(share * (1 - share) / trials + per_trial / (4 * trials))
    low, high = (middle - reach) / (1 + per_trial), (middle + reach) / (1 + per_trial)
    return max(0.0, low) if successes else 0.0, min(1.0, high) if successes < trials else 1.0
