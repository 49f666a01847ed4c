"""What stands behind the references: closed formulas and small solvers in NumPy and SciPy, none of which needs JAX."""
