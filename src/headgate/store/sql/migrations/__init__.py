"""The migrations that create or upgrade the schema of a history."""
