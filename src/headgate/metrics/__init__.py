"""One file per metric: its state, its fold (Arrow arrays to state) and its measure (state to value)."""
