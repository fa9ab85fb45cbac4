"""Expectations from one profile: one rule per file, and the classifier of column names that guards uniqueness."""
