"""What can be done from the page of health: try again what failed, ask the model for a word, make a backup."""

from collections.abc import Mapping

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.told import number, whole
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.text import counted
from claude_mem_lite.ui.templating import Action


def retry(client: Client, given: JsonObject) -> JsonObject:
    """Put one of what failed back to work, or all of it when none is named."""
    event = given.get("id")
    events, turns = client.retry(event if isinstance(event, int) else None)
    put_back = [counted(events, "event")] if events or not turns else []
    put_back += [counted(turns, "turn")] if turns else []
    return {"message": f"{' and '.join(put_back)} put back to work."}


def try_model(client: Client, _: JsonObject) -> JsonObject:
    """Ask the model for one word, and say whether it answered."""
    told = client.try_model()
    model, problem, next_step = (text(told.get(name)) for name in ("model", "problem", "next_step"))
    if problem:
        return {"message": f"No answer: {problem}" + (f"; {next_step}." if next_step else ".")}
    took = f"{number(told, 'ms'):,.0f} ms and {counted(whole(told, 'tokens'), 'token')}"
    return {"message": f"{model} answered. That took {took}."}


def back_up(client: Client, _: JsonObject) -> JsonObject:
    """Have a backup made now."""
    told = client.backup()
    memories = counted(whole(told, "memories"), "memory", "memories")
    return {"message": f"Backup made, with {memories}: {text(told.get('path'))}"}


HEALTH_ACTIONS: Mapping[str, Action] = {"retry": retry, "try_model": try_model, "back_up": back_up}
