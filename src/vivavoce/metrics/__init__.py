"""Pure scorers: (answer, gold) -> score, without I/O and without a model."""
