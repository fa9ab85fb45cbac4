"""What the next value of a metric must meet, learned from the values before it."""
