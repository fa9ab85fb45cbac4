"""Suggests constraints from one profile: one rule per file, and a classifier of column names for uniqueness."""
