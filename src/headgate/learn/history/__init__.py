"""Expectations from a table's own history, inside a budget for false alarms (Auto-Validate-by-History)."""
