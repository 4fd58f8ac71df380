"""Citations of answers: parsing, sentences, and recall and precision by entailment, as published and corrected."""
