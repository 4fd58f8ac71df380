"""Figures of an experiment, drawn from its measures with matplotlib, the same bytes for the same numbers."""
