"""What an agent can do with a corpus: actions, their syntaxes, and their observations."""
