"""Rules for string columns learned from ten values: Auto-Validate's experiment, side by side with other methods."""
