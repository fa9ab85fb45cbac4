"""From failed expectations to causes in words."""
