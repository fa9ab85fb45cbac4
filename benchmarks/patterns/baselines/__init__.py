"""Other ways to learn a rule from a few values, one file each, all with one face."""
