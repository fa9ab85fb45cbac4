"""The steps that make the schema of a history, or bring an older one up to date."""
