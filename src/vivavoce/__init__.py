"""Vivavoce examines language models and agents that read scientific papers."""
