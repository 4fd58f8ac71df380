"""One POST to a chat-completions server: bytes out, bytes back, or a `AttemptError` that says what went wrong.

The API key is read from the environment at the first call and stands in one header, nowhere else: a server that echoes it
has it struck out of whatever it said before anyone sees that.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

import aiohttp

from vivavoce.config.model import ModelConfig
from vivavoce.errors import ConfigError
from vivavoce.models.failures import CallError, DeadlineError
from vivavoce.models.retry import AttemptError, failed_body, failed_status

STRUCK = b"***"
REAL_KEY = 12  # shorter ones are placeholders such as EMPTY or ollama, which a reply may well contain


class HttpTransport:
    """Keeps connections open and posts bodies to `base_url`/chat/completions."""

    def __init__(self, config: ModelConfig, environ: Mapping[str, str] | None = None) -> None:
        self._config = config
        self._environ = os.environ if environ is None else environ
        self._session: aiohttp.ClientSession | None = None
        self._key = b""
        self._url = f"{config.base_url}/chat/completions"
        self._proxy: str | None = None

    async def post(self, body: bytes, timeout: float) -> bytes:
        """The body of a good reply. Raises `AttemptError`; ConfigError where the key's variable is not set."""
        session = self._session or self._connect()
        try:
            async with session.post(
                self._url, data=body, timeout=aiohttp.ClientTimeout(total=timeout), allow_redirects=False, proxy=self._proxy
            ) as response:
                raw = await response.read()
        except TimeoutError:
            raise AttemptError(DeadlineError(f"no reply within {timeout:g} s (timeout)"), again=True, paid=True) from None
        except aiohttp.ClientPayloadError:
            raise AttemptError(CallError("the connection broke in the middle of the reply"), again=True, paid=True) from None
        except (aiohttp.ClientSSLError, ssl.SSLError) as error:
            raise AttemptError(CallError(f"{self._config.base_url}: TLS: {self._safe(str(error))}"), again=False) from None
        except aiohttp.ClientConnectorError as error:
            text = (
                f"no connection to {self._config.base_url}: {error.os_error.strerror or error.os_error}. Is the server running?"
            )
            raise AttemptError(CallError(text), again=True) from None
        except aiohttp.InvalidURL:
            raise AttemptError(CallError(f"{self._url} is no address"), again=False) from None
        except (aiohttp.ClientError, OSError) as error:
            text = f"the connection broke: {type(error).__name__} {self._safe(str(error))[:200]}"
            raise AttemptError(CallError(text), again=True, paid=True) from None
        if len(self._key) >= REAL_KEY and self._key in raw:
            raw = raw.replace(self._key, STRUCK)
        if response.status != 200:
            raise failed_status(response.status, response.headers, raw)
        if (failed := failed_body(raw)) is not None:
            raise failed
        return raw

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0)  # lets the transports say good-bye before the loop ends
            self._session = None

    def _connect(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json"}
        if name := self._config.api_key_env:
            key = self._environ.get(name, "").strip()
            if not key:
                raise ConfigError(f"{self._config.name}: the environment variable {name} is not set: put the API key there.")
            if not key.isascii() or any(mark.isspace() for mark in key):
                raise ConfigError(f"{self._config.name}: what {name} holds is no API key (blanks or other signs in it).")
            self._key = key.encode()
            headers["Authorization"] = f"Bearer {key}"
        address = urlsplit(self._url)
        if not urllib.request.proxy_bypass(address.hostname or ""):
            self._proxy = urllib.request.getproxies().get(address.scheme)
        # The limiter is the only gate: a second one in the pool would count waiting time against the call.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ttl_dns_cache=300)
        self._session = aiohttp.ClientSession(connector=connector, headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _safe(self, text: str) -> str:
        return text.replace(self._key.decode(), STRUCK.decode()) if self._key else text
