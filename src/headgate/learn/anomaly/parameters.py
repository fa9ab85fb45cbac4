"""Checks the parameters of detectors, with errors that say what to write instead.

Tested by `tests/learn/anomaly/test_detectors.py`.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from headgate.values.errors import MisuseError


def check_real(
    owner: Any, *fields: str, least: float = -math.inf, above: float = -math.inf, below: float = math.inf
) -> None:
    """Demand finite numbers in a range, or None if that is the default, and convert them to floats."""
    for field in fields:
        value = getattr(owner, field)
        if value is None and _may_be_none(owner, field):
            continue
        number = _as_number(value)
        if number is None or number < least or not above < number < below:
            raise _wrong_parameter(owner, field, "a number" + _format_range(least, above, below))
        msgspec.structs.force_setattr(owner, field, number)


def check_whole(owner: Any, *fields: str, least: int) -> None:
    """Demand integers of at least `least`, or None if that is the default."""
    for field in fields:
        value = getattr(owner, field)
        if value is None and _may_be_none(owner, field):
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _wrong_parameter(owner, field, f"a whole number of at least {least}")


def check_flag(owner: Any, *fields: str) -> None:
    """Demand booleans."""
    for field in fields:
        if not isinstance(getattr(owner, field), bool):
            raise _wrong_parameter(owner, field, "True or False")


def check_ends(owner: Any, low: str, high: str, example: str) -> None:
    """Demand at least one of the two ends, and that the lower is not above the higher."""
    lower, higher = getattr(owner, low), getattr(owner, high)
    if lower is None and higher is None:
        raise MisuseError(f"{owner.name} needs {low} or {high}.", hint=f"Write {example}.")
    if lower is not None and higher is not None and lower > higher:
        raise MisuseError(f"{owner.name}: {low}={lower:g} is above {high}={higher:g}.", hint="Swap them.")


def check_sides(owner: Any) -> None:
    """Demand that the detector looks below, above or both: otherwise it would find nothing."""
    check_flag(owner, "lower", "upper")
    if not (owner.lower or owner.upper):
        raise MisuseError(f"{owner.name} has lower=False and upper=False.", hint="Leave one of them True.")


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _may_be_none(owner: Any, field: str) -> bool:
    return any(known.name == field and known.default is None for known in msgspec.structs.fields(owner))


def _format_range(least: float, above: float, below: float) -> str:
    parts = [f"of at least {least:g}"] if least > -math.inf else []
    parts += [f"above {above:g}"] if above > -math.inf else []
    parts += [f"below {below:g}"] if below < math.inf else []
    return " " + " and ".join(parts) if parts else ""


def _wrong_parameter(owner: Any, field: str, wanted: str) -> MisuseError:
    return MisuseError(f"{owner.name}: {field} is {getattr(owner, field)!r}.", hint=f"Write {wanted}.")
