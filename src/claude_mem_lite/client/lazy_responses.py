"""Modules of `responses`, imported on first use.

A command needs few of the modules, and all together take 20 ms.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_mem_lite.responses import (
        agent,
        analytics,
        code,
        context,
        feed,
        imports,
        lessons,
        memories,
        project,
        records,
        status,
    )

__all__ = [
    "agent",
    "analytics",
    "code",
    "context",
    "feed",
    "imports",
    "lessons",
    "memories",
    "project",
    "records",
    "status",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(name)
    return importlib.import_module(f"claude_mem_lite.responses.{name}")
