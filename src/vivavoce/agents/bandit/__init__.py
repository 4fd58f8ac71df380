"""The player of the bandit probe."""

from vivavoce.agents.bandit.agent import BanditPlayer
from vivavoce.agents.bandit.options import BanditPlayerOptions

__all__ = ["BanditPlayer", "BanditPlayerOptions"]
