"""Infers the pattern that the next values of a text column follow, from a lake of columns (Auto-Validate, 2021)."""
