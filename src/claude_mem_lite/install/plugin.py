"""Claude Code plugin as a folder of this package: its path, its generated files, the preparation for its hooks, and its
state in settings.

`python -m claude_mem_lite.install.plugin` writes the generated files; a test compares them."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import hook_install, settings_files
from claude_mem_lite.install.hook_config import plugin_settings
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home

NAME = "mem-lite"
"""Name of the plugin and of its marketplace: the client accepts no name that begins with `claude-` (2.1.325)."""
FOLDER = Path(__file__).parent.parent / "plugin"
PURPOSE = "A local-first memory: captures work through hooks, remembers it, and gives the right few facts back."


def generated() -> dict[str, str]:
    """Return the generated files of the plugin, by path."""
    files: dict[str, JsonObject] = {
        "hooks/hooks.json": {"description": PURPOSE, **plugin_settings()},
        ".claude-plugin/plugin.json": {
            "name": NAME,
            "version": __version__,
            "description": PURPOSE,
            "author": {"name": "The claude-mem-lite authors"},
            "license": "MIT",
            "keywords": ["memory", "context", "local-first"],
        },
    }
    return {path: json.dumps(content, indent=2) + "\n" for path, content in files.items()}


def prepare(home: Home) -> bool:
    """Do everything that `install` does except for settings; return whether a worker of another version was stopped.

    Several hooks of a first session run this at once: one does the work, and the others find it done."""
    home.make()
    with settings_files.exclusive(home):
        hook_install.prepare(home)
        return hook_install.stop_older_worker(home)


def enabled_in(settings: Path) -> list[str]:
    """Return our plugin as `name@marketplace`, if a settings file of Claude Code enables it."""
    with suppress(SettingsError, ValueError, RecursionError):
        settings_json: JsonValue = json.loads(settings_files.read(settings) or b"{}")
        plugins = settings_json.get("enabledPlugins") if isinstance(settings_json, dict) else None
        if isinstance(plugins, dict):
            return [name for name, is_on in plugins.items() if is_on is True and name.partition("@")[0] == NAME]
    return []


def plugin_warnings(settings: Iterable[Path]) -> Iterator[str]:
    """Yield a warning for each of these settings files that enables the plugin, for users who install hooks as well."""
    for path in dict.fromkeys(settings):
        for name in enabled_in(path):
            yield (
                f"Careful: the plugin {name} is on as well, in {path}. What happens is captured once all the same, but "
                f"keep one: `claude plugin uninstall {name}`, or `claude-mem-lite uninstall`."
            )


if __name__ == "__main__":
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
