#!/usr/bin/env python3
"""A chat-completions server that misbehaves on demand, answers deterministically, and counts what it was paid for.

    scripted_server.py --port-file port --log calls.jsonl [--latency 0.1] [--rules rules.json] [--kill-at N --kill-pid-file pid]

A script is chosen by the model's id (`script:429-seconds`) or by a marker `[[script:429-seconds]]` anywhere in the messages.
Its steps are played one a request of the same body, then the server answers well; a lasting script repeats its last step.
The log has one line a finished reply (`{"n", "body", "model", "finished"}`; body: sha256 of the bytes that came), flushed
before the reply leaves, so that it survives a kill of either side. GET /counts sums it up.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import hashlib
import json
import os
import re
import signal
import sys
from collections import Counter
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from aiohttp import web

MARK = re.compile(r"script:([a-z0-9-]+)")
WORDS = ["attention", "baseline", "corpus", "decoder", "encoder", "entropy", "gradient", "kernel", "lattice", "manifold"]
WORDS += ["metric", "optimiser", "parser", "prior", "quantile", "recall", "sampler", "tensor", "token", "transformer", "vector"]

# name -> (steps, whether the last one repeats for ever)
SCRIPTS: dict[str, tuple[list[str], bool]] = {
    "429-seconds": (["429-seconds"], False),
    "429-date": (["429-date"], False),
    "429-bare": (["429-bare"], False),
    "429-reset": (["429-reset"], False),
    "429-ms": (["429-ms"], False),
    "429-always": (["429-bare"], True),
    "429-tomorrow": (["429-tomorrow"], True),
    "quota": (["quota"], True),
    "500-then-fine": (["500"], False),
    "500-always": (["500"], True),
    "503-seconds": (["503-seconds"], False),
    "hang": (["hang"], True),
    "hang-once": (["hang"], False),
    "reset": (["reset"], False),
    "reset-always": (["reset"], True),
    "half": (["half"], False),
    "half-always": (["half"], True),
    "html": (["html"], False),
    "html-200-always": (["html-200"], True),
    "wrong-json": (["wrong-json"], False),
    "wrong-json-always": (["wrong-json"], True),
    "no-choices": (["no-choices"], False),
    "no-choices-always": (["no-choices"], True),
    "error-200": (["error-200"], False),
    "refusal": (["refusal"], True),
    "filter": (["filter"], True),
    "filter-400": (["filter-400"], True),
    "length": (["length"], True),
    "broken-arguments": (["broken-arguments"], True),
    "no-usage": (["no-usage"], True),
    "slow": (["slow"], True),
    "400": (["400"], True),
    "401": (["401"], True),
    "403": (["403"], True),
    "404": (["404"], True),
    "overflow": (["overflow"], True),
    "redirect": (["redirect"], True),
    "echo-key": (["echo-key"], True),
    "thinking": (["thinking"], True),
}
UNUSABLE = {"no-choices", "refusal", "filter", "length"}  # a client has no reply to keep: asking again is no second payment


class Server:
    """The state of one server: how often each body came, what was answered, what was under way at once."""

    def __init__(
        self,
        latency: float = 0.0,
        log: Path | None = None,
        rules: list[dict[str, str]] | None = None,
        wait: float = 0.2,
        kill_at: int = 0,
        kill_pid_file: Path | None = None,
    ) -> None:
        self.latency, self.wait, self.rules = latency, wait, rules or []
        self.kill_at, self.kill_pid_file = kill_at, kill_pid_file
        self.asked: Counter[str] = Counter()  # body -> requests
        self.finished: Counter[str] = Counter()  # body -> good replies sent whole
        self.active = self.peak = self.requests = 0
        self.starts: list[float] = []
        self.bodies: list[dict[str, Any]] = []  # the last hundred, for tests of what is sent
        self.headers: list[dict[str, str]] = []
        self.log = log.open("a", encoding="utf-8") if log else None

    def app(self) -> web.Application:
        app = web.Application(client_max_size=256 * 2**20)
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_get("/counts", self.counts)
        return app

    async def counts(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "requests": self.requests,
                "finished": self.finished.total(),
                "distinct": len(self.finished),
                "paid_twice": sorted(body for body, count in self.finished.items() if count > 1),
                "active": self.active,
                "peak": self.peak,
            }
        )

    async def complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        digest = hashlib.sha256(raw).hexdigest()
        self.requests += 1
        self.asked[digest] += 1
        self.starts.append(asyncio.get_running_loop().time())
        if self.kill_at and self.requests == self.kill_at and self.kill_pid_file:
            os.kill(int(self.kill_pid_file.read_text()), signal.SIGKILL)
        self.active += 1
        self.peak = max(self.peak, self.active)
        try:
            body = json.loads(raw)
            self.bodies = [*self.bodies[-99:], body]
            self.headers = [*self.headers[-99:], dict(request.headers)]
            if self.latency:
                await asyncio.sleep(self.latency)
            return await self._play(request, body, digest)
        finally:
            self.active -= 1

    def _step(self, body: dict[str, Any], digest: str) -> str:
        text = f"{body['model']} {json.dumps(body['messages'])}"
        found = MARK.search(text)
        if not found:
            return "fine"
        steps, always = SCRIPTS[found[1]]
        turn = self.asked[digest] - 1
        if turn < len(steps):
            return steps[turn]
        return steps[-1] if always else "fine"

    async def _play(self, request: web.Request, body: dict[str, Any], digest: str) -> web.StreamResponse:
        step = self._step(body, digest)
        good = completion(body, digest, self.rules)
        error, limited = _error, {"message": "Rate limit reached", "code": "rate_limit_exceeded"}
        match step:
            case "429-seconds":
                return error(429, limited, {"Retry-After": str(max(1, round(self.wait)))})
            case "429-date":
                now = datetime.datetime.now(datetime.UTC)
                # The server's clock is an hour fast: only the difference of its two dates tells the wait.
                hour = datetime.timedelta(hours=1)
                later = format_datetime(now + hour + datetime.timedelta(seconds=1), usegmt=True)
                return error(429, limited, {"Retry-After": later, "Date": format_datetime(now + hour, usegmt=True)})
            case "429-bare":
                return error(429, limited)
            case "429-ms":
                return error(429, limited, {"retry-after-ms": str(round(self.wait * 1000))})
            case "429-reset":
                left = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{round(self.wait * 1000)}ms"}
                return error(429, limited, left | {"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"})
            case "429-tomorrow":
                return error(429, limited, {"Retry-After": "86400"})
            case "quota":
                return error(429, {"message": "You exceeded your current quota", "code": "insufficient_quota"})
            case "500":
                return error(500, {"message": "The server had an error"})
            case "503-seconds":
                return error(503, {"message": "Overloaded"}, {"Retry-After": str(max(1, round(self.wait)))})
            case "hang":
                await asyncio.sleep(3600)
            case "reset" | "half":
                return await self._broken(request, good, reset=step == "reset")
            case "html":
                return web.Response(status=502, text="<html><h1>502 Bad Gateway</h1></html>", content_type="text/html")
            case "html-200":
                return web.Response(text="<html><h1>Please log in</h1></html>", content_type="text/html")
            case "wrong-json":
                return web.json_response({"result": [1, 2, 3]})
            case "no-choices":
                good["choices"] = []
            case "error-200":
                return web.json_response({"error": {"message": "Provider returned error", "code": 502}})
            case "refusal":
                good["choices"][0]["message"] |= {"content": None, "refusal": "I cannot help with that."}
            case "filter":
                good["choices"][0]["finish_reason"] = "content_filter"
            case "filter-400":
                return error(400, {"message": "The response was filtered", "code": "content_filter"})
            case "length":
                good["choices"][0]["finish_reason"] = "length"
            case "broken-arguments":
                call = {"id": "call_1", "type": "function", "function": {"name": "Search", "arguments": '{"query": "atten'}}
                good["choices"][0] |= {"message": {"role": "assistant", "content": None, "tool_calls": [call]}}
                good["choices"][0]["finish_reason"] = "tool_calls"
            case "no-usage":
                del good["usage"]
            case "400":
                return error(400, {"message": "Invalid value for 'temperature'"})
            case "401" | "echo-key":
                return error(401, {"message": f"Incorrect API key provided: {request.headers.get('Authorization')}"})
            case "403":
                return error(403, {"message": "You may not use this model"})
            case "404":
                return error(404, {"message": "The model does not exist"})
            case "overflow":
                text = "This model's maximum context length is 8192 tokens"
                return error(400, {"message": text, "code": "context_length_exceeded"})
            case "redirect":
                return web.Response(status=307, headers={"Location": "https://elsewhere.example/v1/chat/completions"})
            case "thinking":
                message = good["choices"][0]["message"]
                message["content"] = f"<think>\nLet me see.\n</think>\n\n{message['content']}"
        data = json.dumps(good).encode()
        if step not in UNUSABLE:
            self._count(digest, body)
        if step == "slow":
            return await self._drip(request, data)
        return web.Response(body=data, content_type="application/json", headers=_echo(request, body))

    def _count(self, digest: str, body: dict[str, Any]) -> None:
        self.finished[digest] += 1
        if self.log:
            line = {"n": self.requests, "body": digest, "model": body["model"], "finished": self.finished[digest]}
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()

    async def _drip(self, request: web.Request, data: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        step = max(1, len(data) // 20)
        for start in range(0, len(data), step):
            await response.write(data[start : start + step])
            await asyncio.sleep(self.wait / 10)
        await response.write_eof()
        return response

    async def _broken(self, request: web.Request, good: dict[str, Any], *, reset: bool) -> web.StreamResponse:
        data = json.dumps(good).encode()
        half = data[: len(data) // 2]
        if not reset:
            return web.Response(body=half, content_type="application/json")  # a whole HTTP reply around half a body
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(half)
        assert request.transport is not None
        request.transport.abort()
        return response


def completion(body: dict[str, Any], digest: str, rules: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """A good reply, a function of the body alone: by the first rule whose `match` is found in the messages, by the JSON
    schema that is asked for, by the last tool offered, or a few words."""
    seed = int(digest[:12], 16)
    text = "\n".join(_text(message) for message in body["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish = "stop"
    rule = next((rule for rule in rules or () if re.search(rule["match"], text, re.DOTALL)), None)
    form = body.get("response_format") or {}
    if rule:
        message["content"] = rule["reply"].replace("{digest}", digest[:8])
    elif form.get("type") == "json_schema":
        message["content"] = json.dumps(instance(form["json_schema"]["schema"], seed))
    elif body.get("tools"):
        function = body["tools"][-1]["function"]
        arguments = json.dumps(instance(function.get("parameters") or {"type": "object"}, seed))
        message["tool_calls"] = [
            {"id": f"call_{digest[:6]}", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
        ]
        finish = "tool_calls"
    else:
        message["content"] = " ".join(WORDS[(seed >> shift) % len(WORDS)] for shift in range(0, 32, 4))
    tokens = len((message["content"] or "").split())
    return {
        "id": f"chatcmpl-{digest[:12]}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": len(text) // 4, "completion_tokens": tokens, "total_tokens": len(text) // 4 + tokens},
    }


def instance(schema: dict[str, Any], seed: int) -> Any:
    """A value that a (simple) JSON schema allows, chosen by `seed`."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][seed % len(schema["enum"])]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return instance(schema[key][seed % len(schema[key])], seed)
    kind = schema.get("type", "object")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return {
                name: instance(part, seed // (place + 1))
                for place, (name, part) in enumerate(schema.get("properties", {}).items())
            }
        case "array":
            return [instance(schema.get("items", {"type": "string"}), seed)]
        case "integer" | "number":
            low, high = schema.get("minimum", 0), schema.get("maximum", 10)
            return low + seed % (int(high - low) + 1)
        case "boolean":
            return bool(seed % 2)
        case "null":
            return None
    return WORDS[seed % len(WORDS)]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def _echo(request: web.Request, body: dict[str, Any]) -> dict[str, str]:
    """Some proxies send the caller's own headers back: nothing may keep them."""
    return {"X-Echo": request.headers.get("Authorization", "")}


def _error(status: int, error: dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": error}, status=status, headers=headers)


async def start(server: Server, port: int = 0) -> tuple[web.AppRunner, int]:
    """Serve on loopback; returns the runner (to clean up) and the port."""
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    return runner, runner.addresses[0][1]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path, help="where to write the port once it listens")
    parser.add_argument("--log", type=Path, help="one JSON line a finished reply; appended")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--wait", type=float, default=0.2, help="seconds that a 429 asks for")
    parser.add_argument("--rules", type=Path, help='JSON list of {"match": regular expression, "reply": text}')
    parser.add_argument("--kill-at", type=int, default=0, help="kill -9 the process in --kill-pid-file when request N comes in")
    parser.add_argument("--kill-pid-file", type=Path)
    options = parser.parse_args(arguments)
    rules = json.loads(options.rules.read_text(encoding="utf-8")) if options.rules else None

    async def serve() -> None:
        server = Server(options.latency, options.log, rules, options.wait, options.kill_at, options.kill_pid_file)
        _, port = await start(server, options.port)
        if options.port_file:
            part = options.port_file.with_suffix(".part")
            part.write_text(str(port))
            part.rename(options.port_file)
        else:
            print(port, flush=True)
        stop = asyncio.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(signum, stop.set)
        await stop.wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1:])
