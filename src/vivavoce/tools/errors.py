"""Why an action failed: the text that the agent is shown as its observation."""

from __future__ import annotations


class ActionError(Exception):
    """An action could not be run as asked; the agent reads the message and may try again."""


class ActionTimeoutError(ActionError):
    """An action took longer than it may."""
