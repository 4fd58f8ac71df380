"""Answers made elsewhere, in any form that people have them in, as rollouts: the agent `predictions`."""

from vivavoce.agents.predictions.agent import Predictions
from vivavoce.agents.predictions.options import PredictionOptions

__all__ = ["PredictionOptions", "Predictions"]
