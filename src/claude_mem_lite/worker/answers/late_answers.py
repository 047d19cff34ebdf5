"""Answers to prompts and tool calls, without their modules, which are loaded after the first answer."""

from claude_mem_lite.worker.services import Services


def prompt_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a prompt."""
    from claude_mem_lite.worker.answers import prompt

    return prompt.prompt_context(services, name, body)


def success_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a tool call that succeeded."""
    from claude_mem_lite.worker.answers import tool_use

    return tool_use.success_context(services, name, body)


def failure_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a tool call that failed."""
    from claude_mem_lite.worker.answers import tool_use

    return tool_use.failure_context(services, name, body)


def either_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a tool call of an agent that reports both outcomes with the same event."""
    from claude_mem_lite.worker.answers import tool_use

    return tool_use.either_context(services, name, body)
