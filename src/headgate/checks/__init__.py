"""What people write: checks, in Python and in YAML."""
