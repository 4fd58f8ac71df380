"""The scripted server as a fixture: `server` (in this process), `serve` (as a subprocess), and a model pointed at it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio

from vivavoce.config.model import ModelConfig

SCRIPT = Path(__file__).with_name("scripted_server.py")


@pytest.fixture(scope="session")
def scripted() -> ModuleType:
    """The scripted server's module, loaded from its file."""
    spec = importlib.util.spec_from_file_location("scripted_server", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest_asyncio.fixture
async def server(scripted: ModuleType) -> AsyncIterator[Any]:
    """A server in this event loop; `server.url` is its base URL."""
    server = scripted.Server(wait=0.2)
    runner, port = await scripted.start(server)
    server.url = f"http://127.0.0.1:{port}/v1"
    yield server
    await runner.cleanup()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts the server as a subprocess with the given options; returns its base URL."""
    running = []

    def begin(*options: str) -> str:
        port_file = tmp_path / f"port{len(running)}"
        running.append(subprocess.Popen([sys.executable, str(SCRIPT), "--port-file", str(port_file), *options]))
        for _ in range(400):
            if port_file.exists():
                return f"http://127.0.0.1:{port_file.read_text()}/v1"
            time.sleep(0.05)
        raise AssertionError("the scripted server did not start")

    yield begin
    for process in running:
        process.terminate()
        process.wait(10)


@pytest.fixture
def configure() -> Callable[..., ModelConfig]:
    """A model's configuration with quick limits; any field can be set."""

    def make(base_url: str, **fields: Any) -> ModelConfig:
        known: dict[str, Any] = {"model": "m", "timeout": 5.0, "retries": 3, "concurrency": 8}
        return ModelConfig.parse("tested", known | {"base_url": base_url} | fields)

    return make
