"""Pure mathematics: intervals, bounds, distances and tests."""
