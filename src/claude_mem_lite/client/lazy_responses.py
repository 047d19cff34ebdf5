"""Modules of `responses`, imported on first use.

A command needs few of the modules, and all together take 20 ms.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_mem_lite.responses import analytics as analytics
    from claude_mem_lite.responses import code as code
    from claude_mem_lite.responses import context as context
    from claude_mem_lite.responses import experiment as experiment
    from claude_mem_lite.responses import feed as feed
    from claude_mem_lite.responses import guards as guards
    from claude_mem_lite.responses import imports as imports
    from claude_mem_lite.responses import lessons as lessons
    from claude_mem_lite.responses import memories as memories
    from claude_mem_lite.responses import project as project
    from claude_mem_lite.responses import records as records
    from claude_mem_lite.responses import status as status
    from claude_mem_lite.responses import team as team


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(name)
    return importlib.import_module(f"claude_mem_lite.responses.{name}")
