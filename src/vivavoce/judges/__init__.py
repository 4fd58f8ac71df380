"""Judges answer a grader's requests: by a language model, by lexical overlap, from recorded replies."""
