"""Other ways to tell a bad batch from its history, one file each, all with one face."""
