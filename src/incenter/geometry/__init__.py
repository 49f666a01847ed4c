"""Gradients in, centre of the cone of common descent out."""
