"""Replays the recorded past: what a gate would have held, and what it would have missed."""
