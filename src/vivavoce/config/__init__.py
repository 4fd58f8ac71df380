"""Typed configuration: Hydra composes it once, pydantic checks it, a canonical file freezes it."""
