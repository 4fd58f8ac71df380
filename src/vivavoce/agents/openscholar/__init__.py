"""OpenScholar: retrieval, one cited answer, self-feedback, and post-hoc attribution (Asai et al. 2024)."""

from vivavoce.agents.openscholar.agent import OpenScholar

__all__ = ["OpenScholar"]
