"""One file per distance: how far a column's state lies from that of an earlier batch."""
