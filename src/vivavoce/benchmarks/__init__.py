"""Readers: upstream data files -> Questions. A module a benchmark family; nothing here scores."""
