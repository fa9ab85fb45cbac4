"""Numbers and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_DAY = 86_400
_SMALL_SHARE = 0.0005  # smaller shares need more digits
_ROUNDING_ERROR = 1e-12  # smaller shares are zero up to rounding


def format_number(value: float) -> str:
    """A number in at most six digits; more if it would look like a whole number otherwise.

    >>> format_number(1040.0), format_number(0.123456789), format_number(0.9999999), format_number(2.5e-7)
    ('1,040', '0.123457', '0.9999999', '2.5e-07')
    >>> format_number(float("-inf"))
    '-infinity'
    """
    if value - value != 0:
        return "not a number" if value != value else "infinity" if value > 0 else "-infinity"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    text = f"{value:,.6g}" if 1e-4 <= abs(value) < 1e9 else f"{value:.6g}"
    number = float(text.replace(",", ""))
    return f"{value:.12g}" if number == int(number) and abs(value) < 1e9 else text


def format_parameter(value: float, is_short: bool) -> str:
    """A factor or an offset: an estimate in four digits, one that is known in all that it has.

    >>> format_parameter(1234567.0, is_short=True), format_parameter(1234567.0, is_short=False)
    ('1,235,000', '1,234,567')
    >>> format_parameter(2.7654321, is_short=True), format_parameter(2.7654321, is_short=False)
    ('2.765', '2.7654321')
    """
    if is_short:
        return format_number(float(f"{value:.4g}"))
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def format_moment(seconds: float, whole_days: bool = True) -> str:
    """Seconds since 1970 as a date; with the time of day unless it is midnight, or if `whole_days` is false.

    >>> format_moment(1763164800), format_moment(1763164861)
    ('2025-11-15', '2025-11-15 00:01:01')
    """
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return f"{seconds:g} s"
    return moment.strftime("%Y-%m-%d" if whole_days and seconds % _DAY == 0 else "%Y-%m-%d %H:%M:%S")


def format_share(value: float, digits: int = 1) -> str:
    """A share as a percentage, with enough digits that a small one does not look like 0% nor a large one like 100%.

    >>> format_share(0.037), format_share(0.00001), format_share(0.99999), format_share(0.0)
    ('3.7%', '0.001%', '99.999%', '0.0%')
    """
    rest = min(abs(value), abs(1 - value))
    if not _ROUNDING_ERROR < rest < _SMALL_SHARE:
        return f"{value:.{digits}%}"
    small = float(f"{100 * rest:.2g}")
    return f"{100 - small:.12g}%" if value > 0.5 else f"{100 * value:.2g}%"
