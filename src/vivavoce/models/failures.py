"""Why a model call gave no usable reply. All but `StoreError` end one question; the others go on."""

from __future__ import annotations

from vivavoce.errors import ModelError, VivavoceError


class CallError(ModelError):
    """The server did not give a usable reply: its status (0: none came) and why."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ContextOverflowError(CallError):
    """The prompt and max_tokens are longer than the model's context: never retried; an agent may send less."""


class DeadlineError(CallError):
    """The call or the question took longer than its configured time."""


class OfflineMissError(ModelError):
    """Offline, and the call is in no store: the prompt, the model or a parameter changed since it was recorded."""


class StoreError(VivavoceError):
    """The call store cannot be opened, read or written: the step stops, and all that was stored is kept."""
