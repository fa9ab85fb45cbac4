"""From failed expectations to what happened: known faults are fitted to a batch, and the best is named."""
