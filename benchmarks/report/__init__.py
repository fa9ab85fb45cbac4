"""What a person gets to read: the report beside those of other tools, its size, its pictures."""
