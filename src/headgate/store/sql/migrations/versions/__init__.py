"""One file for each migration. A released migration never changes."""
