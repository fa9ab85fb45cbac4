"""The constraints that say more than a metric and a threshold, by subject; each registers itself."""
