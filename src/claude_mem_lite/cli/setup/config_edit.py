"""Changes of single settings in `config.toml`. Comments and other settings stay, and readers never see half a file."""

import json
import re
import tomllib
from collections.abc import Mapping

from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.install import settings_files
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def write_settings(home: Home, wanted: Mapping[str, str | float | None]) -> bool:
    """Write settings, or remove those that are None; return whether the file changed. ConfigError for a broken file."""
    path = settings_files.real_path(home.config)
    before = settings_files.read(path)
    load_config(path, {})  # a broken file is left as it is
    text = settings_files.decoded(path, before)
    changed = edited(text, wanted)
    if changed is None:
        lines = [f"`{key} = {json.dumps(value)}`" for key, value in wanted.items() if value is not None]
        step = f"write {', '.join(lines)} into it yourself" if lines else f"take {', '.join(wanted)} out yourself"
        raise ConfigError(f"{path} cannot be changed safely", step)
    if changed == text:
        return False
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings_files.replace(path, before, settings_files.encoded(path, changed))
    return True


def edited(text: str, wanted: Mapping[str, str | float | None]) -> str | None:
    """Return the text with these settings; None if its form does not allow that safely."""
    table = _TABLE.search(text)
    head, tables = (text[: table.start()], text[table.start() :]) if table else (text, "")
    for key, value in wanted.items():
        line = "" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        present = re.compile(rf"^[ \t]*{key}[ \t]*=.*\n?", re.MULTILINE)
        head = present.sub(lambda _, line=line: line, head) if present.search(head) else line + head  # type: ignore[misc]
    changed = head + tables
    expected = {**_parsed(text), **wanted}
    return changed if _parsed(changed) == {key: value for key, value in expected.items() if value is not None} else None


def _parsed(text: str) -> JsonObject:
    """Return the settings of a text; a text that is no TOML equals no other."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {"unreadable": text}
