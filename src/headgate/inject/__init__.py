"""Ways in which data goes wrong, one file per issue: Arrow in, Arrow out."""
