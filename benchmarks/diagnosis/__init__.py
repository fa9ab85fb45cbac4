"""How often the gate names the fault of a held batch right: faults of the benchmark's own, in real batches."""
