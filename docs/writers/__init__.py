"""What writes the parts of the pages that code knows already: `python -m docs.writers`."""
