"""One turn of an agent with tools: from a reply to the actions in it, what they observed, and the messages for the history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from vivavoce.agents.desk import Desk
from vivavoce.agents.session import Session, answer_text, clean, plain
from vivavoce.models.action_text import Syntax, write_action, write_turn
from vivavoce.models.chat import ChatReply, Message, ToolCall
from vivavoce.records import Turn
from vivavoce.tools.actions import FINAL
from vivavoce.tools.observe import Observation
from vivavoce.tools.parse import check_arguments, parse_reply
from vivavoce.tools.parse_published import history_published
from vivavoce.tools.parsed import MAX_REPLY, Parsed, Rules
from vivavoce.tools.toolbox import arithmetic

MAX_RAW = 8000  # characters of an unparsable reply that are kept in its turn and in the history


class Final(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that ended the exchange."""

    answer: str


async def act(session: Session, desk: Desk, parsed: Parsed, reply: ChatReply) -> Observation | Final:
    """Take one action (or note why there is none) as a turn of the session."""
    if not parsed.action:
        reason = parsed.error + (" The reply was cut at max_tokens." if reply.finish_reason == "length" else "")
        observation = Observation(text=f"[Error]: {reason}", error=reason)
        _note_turn(session, reply, action="", thought=clean(reply.text[:MAX_RAW]), observation=observation)
        return observation
    session.notes.extend(parsed.notes)
    arguments = {key: plain(value) for key, value in parsed.arguments.items()}
    thought = clean(parsed.thought or "")
    if parsed.action == FINAL:
        answer = answer_text(parsed.arguments.get("answer"))
        _note_turn(session, reply, action=FINAL, arguments=arguments, thought=thought)
        return Final(answer=answer)
    observation = await _observe(session, desk, parsed)
    session.shown.extend(observation.passages)
    _note_turn(session, reply, action=parsed.action, arguments=arguments, thought=thought, observation=observation)
    return observation


def parse_native(call: ToolCall, names: Sequence[str], thought: str) -> Parsed:
    """A native tool call, checked like a text action."""
    if call.name not in names:
        return Parsed(thought=thought, error=f"There is no action {call.name[:60]!r}; the actions are {', '.join(names)}.")
    try:
        if len(call.arguments) > MAX_REPLY:
            raise ValueError("too long")
        given = json.loads(call.arguments or "{}")
        if not isinstance(given, dict):
            raise TypeError("not an object")
    except (ValueError, TypeError, RecursionError) as error:
        return Parsed(thought=thought, error=f"The arguments of {call.name} are not a JSON object: {str(error)[:200]}.")
    return check_arguments(call.name, [], given, thought=thought)


def parse_text(reply: ChatReply, names: Sequence[str], syntax: Syntax, rules: Rules) -> tuple[Parsed, Message]:
    """The action of a text reply, and the assistant message for the history: written anew, so that nothing made up remains."""
    parsed = parse_reply(reply.text, names, syntax, rules=rules)
    if rules == "as_published":
        return parsed, Message(role="assistant", content=history_published(parsed, reply.text, syntax))
    text = reply.text[:MAX_RAW]
    if parsed.action:
        text = write_turn(parsed.thought, write_action(parsed.action, parsed.arguments, syntax))
    return parsed, Message(role="assistant", content=text)


async def text_turn(session: Session, desk: Desk, reply: ChatReply, syntax: Syntax, rules: Rules) -> list[Message] | Final:
    """A turn by text: the messages to add to the history, or the end."""
    parsed, message = parse_text(reply, desk.names, syntax, rules)
    seen = await act(session, desk, parsed, reply)
    if isinstance(seen, Final):
        return seen
    return [message, Message(role="user", content=f"[Observation]:\n{seen.text}", images=seen.images)]


async def native_turn(session: Session, desk: Desk, reply: ChatReply, turn_cap: int) -> list[Message] | Final:
    """The native calls of one reply, each a turn, until the cap; a reply without any is an unparsable turn."""
    if not reply.tool_calls:
        seen = await act(session, desk, Parsed(error="No function was called; call exactly one."), reply)
        assert isinstance(seen, Observation)
        return [Message(role="assistant", content=reply.text[:MAX_RAW]), Message(role="user", content=seen.text)]
    if len(reply.tool_calls) > 1:
        session.notes.append("several functions called in one reply: each counts as a turn")
    messages = [Message(role="assistant", content=reply.text[:MAX_RAW], tool_calls=reply.tool_calls)]
    images: list[Any] = []
    for call in reply.tool_calls:
        if len(session.turns) >= turn_cap:
            break
        seen = await act(session, desk, parse_native(call, desk.names, reply.text), reply)
        if isinstance(seen, Final):
            return seen
        messages.append(Message(role="tool", tool_call_id=call.id, content=seen.text))
        images.extend(seen.images)
    if images:
        messages.append(Message(role="user", content="The image(s) asked for:", images=tuple(images)))
    return messages


async def _observe(session: Session, desk: Desk, parsed: Parsed) -> Observation:
    if desk.toolbox is None:
        return arithmetic(parsed.arguments)
    return await desk.toolbox.run(parsed.action, parsed.arguments, session.shown)


def _note_turn(
    session: Session,
    reply: ChatReply,
    *,
    action: str,
    thought: str,
    arguments: dict[str, Any] | None = None,
    observation: Observation | None = None,
) -> None:
    session.turns.append(
        Turn(
            action=action,
            arguments=arguments or {},
            thought=thought,
            observation=clean(observation.text) if observation else "",
            error=clean(observation.error) if observation else "",
            calls=(reply.key,),
        )
    )
