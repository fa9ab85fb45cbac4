"""Factors between units that people mix up, with what they stand for."""

from __future__ import annotations

_UNITS: tuple[tuple[float, str, str], ...] = (
    (100.0, "a hundredth of the unit, as cents for euros", "a hundred times the unit, as euros for cents"),
    (
        1000.0,
        "a thousandth of the unit, as metres for kilometres",
        "a thousand times the unit, as kilometres for metres",
    ),
    (1024.0, "bytes for kibibytes", "kibibytes for bytes"),
    (1_000_000.0, "a millionth of the unit", "a million times the unit"),
    (10.0, "a tenth of the unit", "ten times the unit"),
    (60.0, "seconds for minutes, or minutes for hours", "minutes for seconds, or hours for minutes"),
    (3600.0, "seconds for hours", "hours for seconds"),
    (24.0, "hours for days", "days for hours"),
    (7.0, "days for weeks", "weeks for days"),
    (12.0, "months for years, or inches for feet", "years for months, or feet for inches"),
    (1.609344, "kilometres for miles", "miles for kilometres"),
    (1 / 0.45359237, "pounds for kilograms", "kilograms for pounds"),
    (1 / 0.3048, "feet for metres", "metres for feet"),
    (2.54, "centimetres for inches", "inches for centimetres"),
    (28.349523125, "grams for ounces", "ounces for grams"),
    (3.785411784, "litres for gallons", "gallons for litres"),
)

KNOWN_FACTORS: dict[float, str] = {
    **{factor: larger for factor, larger, _ in _UNITS},
    **{1 / factor: smaller for factor, _, smaller in _UNITS},
}
"""What values that are so many times as large are, by the factor."""


def describe_factor(factor: float) -> str:
    """What a factor stands for; empty if it is none that people mix up.

    >>> describe_factor(1.609344)
    'kilometres for miles'
    """
    near = [known for known in KNOWN_FACTORS if abs(known / factor - 1) < 0.001]
    return KNOWN_FACTORS[near[0]] if near else ""
