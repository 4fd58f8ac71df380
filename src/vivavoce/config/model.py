"""How one model is reached and sampled: the typed form of a `conf/model/*.yaml` file, and the dated price file.

The key of an API never stands in a configuration: `api_key_env` names the environment variable that holds it.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from vivavoce.errors import ConfigError

Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
RESERVED = {"messages", "model", "tools", "stream", "n", "response_format"}  # set by the client alone


class _Strict(BaseModel):
    """Unknown keys are errors; a wrong value is never shown in a message, for it may be a key pasted in the wrong place."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Price(_Strict):
    """US dollars a million tokens, as listed on `date`. Discounts (cached prompts, batches) are not counted."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    date: str = ""

    @field_validator("date", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime.date) else value  # YAML reads 2024-10-02 as a date

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost, in US dollars."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


class ModelConfig(_Strict):
    """One model. Every field that shapes the request body is part of a call's key (see docs/models.md)."""

    name: str  # the name of the file that it stands in
    provider: str = "openai"  # openai | local | extractive | package.module:Class
    base_url: str = ""  # http://host:port/v1, without /chat/completions
    model: str = ""  # the id that the server knows
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Z_][A-Z0-9_]*$")

    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: Positive | None = 1024
    seed: int | None = None  # sample n is sent seed + n
    stop: tuple[str, ...] = ()
    extra_body: dict[str, Any] = {}  # anything else that the server reads: top_k, min_p, max_completion_tokens, ...

    context_length: Positive | None = None  # tokens; for agents that must keep within it
    tool_calls: Literal["native", "text"] = "text"
    images: bool = False
    response_format: Literal["json_schema", "json_object", "none"] = "none"
    thinking: Literal["tag"] | None = None  # tag: the leading <think>...</think> is no part of the answer

    concurrency: Positive = 8
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout: Seconds = 120.0  # one attempt
    call_timeout: Seconds = 1800.0  # one call with all its retries and waits, from its first attempt
    question_timeout: Seconds | None = None  # one question, all its calls
    retries: int = Field(default=6, ge=0)  # attempts after the first

    price: Price | None = None  # None: looked up in the price file by host and model; not there: cost unknown
    gguf: str = ""  # provider local: a path, or package:file inside an installed package
    gguf_sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")  # checked before the file is loaded
    threads: Positive = 1  # provider local

    @field_validator("extra_body")
    @classmethod
    def _unreserved(cls, value: dict[str, Any]) -> dict[str, Any]:
        if wrong := RESERVED & set(value):
            raise ValueError(f"{', '.join(sorted(wrong))} may not be set here: the client sets it")
        return value

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        url = urlsplit(value)
        if value and (url.scheme not in ("http", "https") or not url.hostname):
            raise ValueError("expected an address such as http://localhost:8000/v1")
        if url.username or url.password or url.query:
            raise ValueError("an address holds no user, password or query: name the key's variable in api_key_env")
        return value.rstrip("/").removesuffix("/chat/completions")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.provider == "openai" and not (self.base_url and self.model):
            raise ValueError("provider openai needs base_url and model")
        if self.provider == "local" and not self.gguf:
            raise ValueError("provider local needs gguf: a path, or package:file")
        if self.price is None and self.provider == "openai":
            object.__setattr__(self, "price", listed_price(self.base_url, self.model))
        return self

    @classmethod
    def parse(cls, name: str, values: Mapping[str, Any], source: str = "") -> ModelConfig:
        """The model `name` from the mapping of its file; ConfigError names the file, the key and what was expected."""
        where = source or f"conf/model/{name}.yaml"
        if not isinstance(values, Mapping):
            raise ConfigError(f"{where}: expected a mapping of keys such as base_url and model")
        try:
            return cls(**{**values, "name": name})
        except ValidationError as error:
            lines = []
            for item in error.errors(include_input=False, include_url=False, include_context=False):
                key = ".".join(str(part) for part in item["loc"])
                lines.append(f"{where}: {key + ': ' if key else ''}{_plain(key, item['type'], item['msg'])}")
        raise ConfigError("\n".join(lines))


def _plain(key: str, kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"no such key. Expected some of: {', '.join(sorted(set(ModelConfig.model_fields) - {'name'}))}"
    if key == "api_key_env":
        return "expected the NAME of an environment variable (capitals, digits, _), never the key itself"
    return message.removeprefix("Value error, ")


def listed_price(base_url: str, model: str) -> Price | None:
    """The price of a model at a host, from vivavoce/models/prices.yaml; None where it is not listed (never 0)."""
    listed = yaml.safe_load(files("vivavoce").joinpath("models", "prices.yaml").read_text(encoding="utf-8"))
    entry = (listed["hosts"].get(urlsplit(base_url).hostname) or {}).get(model)
    return None if entry is None else Price(**entry)
