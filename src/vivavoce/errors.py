"""Errors that a user can act on: printed as one message, never as a traceback."""

from __future__ import annotations


class VivavoceError(Exception):
    """Says what is wrong and where (file, line or id), what was expected, and what to do."""


class ConfigError(VivavoceError):
    """A configuration file or override is wrong."""


class DataError(VivavoceError):
    """A data, rollout or judgement file is wrong: names the file and the line or ids."""


class ModelError(VivavoceError):
    """A model call gave no usable reply; the question ends as `error` and the others go on."""


class RefusedError(ModelError):
    """The model or its content filter declined to answer; the question ends as `refused`."""


class BudgetError(VivavoceError):
    """The next call would pass `budget_usd` or `budget_calls`: the run stops, and all that was paid for is kept."""
