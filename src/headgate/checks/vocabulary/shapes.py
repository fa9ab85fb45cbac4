"""Constraints on the format of texts. Nulls are left out. The whole value must match, except for `has_pattern`."""

from __future__ import annotations

from headgate.checks.constraint import ALL, constraint
from headgate.metrics.pattern_match import PatternMatch
from headgate.metrics.type_ratio import TypeRatio

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_SIX = r"[0-9A-Fa-f]{1,4}"
_GAP = r"[ -]?"

EMAIL = rf"^[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})+$"
URL = (
    rf"^(?:https?|ftp)://(?:[^\s/?#@:]+(?::[^\s/?#@]*)?@)?(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])"
    r"(?::[0-9]{1,5})?(?:[/?#]\S*)?$"
)
IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
IPV6 = (
    rf"(?:{_SIX}:){{7}}{_SIX}|(?:{_SIX}:){{1,7}}:|(?:{_SIX}:){{1,6}}:{_SIX}|(?:{_SIX}:){{1,5}}(?::{_SIX}){{1,2}}"
    rf"|(?:{_SIX}:){{1,4}}(?::{_SIX}){{1,3}}|(?:{_SIX}:){{1,3}}(?::{_SIX}){{1,4}}|(?:{_SIX}:){{1,2}}(?::{_SIX}){{1,5}}"
    rf"|{_SIX}:(?::{_SIX}){{1,6}}|:(?:(?::{_SIX}){{1,7}}|:)|::(?:[Ff]{{4}}:)?{IPV4}"
)
IP = rf"^(?:{IPV4}|{IPV6})$"
UUID = r"^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"
_REST = rf"(?:{_GAP}[0-9]{{4}}){{3}}"
CREDIT_CARD = (
    rf"^(?:4[0-9]{{3}}{_REST}"  # Visa
    rf"|(?:5[1-5][0-9]{{2}}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{{2}}|7[01][0-9]|720)){_REST}"  # Mastercard
    rf"|3[47][0-9]{{2}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{5}}"  # American Express
    rf"|6(?:011|5[0-9]{{2}}|4[4-9][0-9]){_REST}"  # Discover
    rf"|3(?:0[0-5]|[68][0-9])[0-9]{_GAP}[0-9]{{6}}{_GAP}[0-9]{{4}}"  # Diners Club
    rf"|35(?:2[89]|[3-8][0-9]){_REST})$"  # JCB
)
SSN = (
    r"^(?:00[1-9]|0[1-9][0-9]|[1-5][0-9]{2}|6[0-57-9][0-9]|66[0-57-9]|[78][0-9]{2})-(?:0[1-9]|[1-9][0-9])"
    r"-(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$"
)


@constraint(default=ALL)
def has_pattern(column: str, pattern: str) -> PatternMatch:
    """The share of values in which a regular expression (of RE2) is found; `^...$` for the whole value."""
    return PatternMatch(column, pattern=pattern)


@constraint(default=ALL)
def has_email(column: str) -> PatternMatch:
    """The share of values that are e-mail addresses."""
    return PatternMatch(column, pattern=EMAIL)


@constraint(default=ALL)
def has_url(column: str) -> PatternMatch:
    """The share of values that are URLs of http, https or ftp."""
    return PatternMatch(column, pattern=URL)


@constraint(default=ALL)
def has_ip_address(column: str) -> PatternMatch:
    """The share of values that are IP addresses, of version 4 or 6."""
    return PatternMatch(column, pattern=IP)


@constraint(default=ALL)
def has_uuid(column: str) -> PatternMatch:
    """The share of values that are UUIDs."""
    return PatternMatch(column, pattern=UUID)


@constraint(default=ALL)
def has_credit_card_number(column: str) -> PatternMatch:
    """The share of values with the digits of a payment card of the large issuers; the check digit is not computed."""
    return PatternMatch(column, pattern=CREDIT_CARD)


@constraint(default=ALL)
def has_social_security_number(column: str) -> PatternMatch:
    """The share of values that are social security numbers of the United States, with dashes."""
    return PatternMatch(column, pattern=SSN)


@constraint(default=ALL)
def has_data_type(column: str, type: str) -> TypeRatio:
    """The share of texts that look like a type: integral, fractional, boolean, date, timestamp or string."""
    return TypeRatio(column, type=type)
