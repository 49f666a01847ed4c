"""The tests, and the samplers and properties that the benchmarks share."""
