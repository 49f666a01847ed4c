"""Measurements; each file runs by itself: `python -m benchmarks.adversarial`."""
