"""Methods side by side: examples, comparisons, figures."""
