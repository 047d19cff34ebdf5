"""The exact bytes a hook prints."""

import json


def context_reply(event: str, context: str) -> bytes:
    """What the client takes as additional context for an event."""
    reply = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")
