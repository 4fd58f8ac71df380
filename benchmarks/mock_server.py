"""A chat-completions server that costs next to no CPU: every POST is answered after `latency` seconds with one fixed reply.

python benchmarks/mock_server.py [--latency 0.1]      prints its port, serves until it is killed
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json

REPLY = json.dumps(
    {
        "id": "chatcmpl-mock",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "mock",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "The answer. " * 20}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 60, "total_tokens": 360},
    }
).encode()
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY) + REPLY


class Connection(asyncio.Protocol):
    """One keep-alive connection, one request at a time."""

    def __init__(self, latency: float) -> None:
        self.latency, self.buffer = latency, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) >= length:
            self.buffer = body[length:]
            asyncio.get_running_loop().call_later(self.latency, self.reply)

    def reply(self) -> None:
        with contextlib.suppress(Exception):
            self.transport.write(WHOLE)  # type: ignore[attr-defined]


async def serve(latency: float) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Connection(latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.1)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().latency))
