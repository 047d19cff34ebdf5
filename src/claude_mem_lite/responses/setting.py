"""Settings in force."""

from claude_mem_lite.models import JsonValue
from claude_mem_lite.responses.base import Response, response


@response
class EffectiveSetting(Response):
    """Setting in force, with its sources: default, file, project file, environment."""

    key: str
    value: JsonValue
    sources: tuple[str, ...] = ()
    variable: str = ""
    """Environment variable that overrides the setting."""


@response
class Settings(Response):
    """Settings in force in a folder, and their files."""

    file: str = ""
    project_file: str = ""
    problems: tuple[str, ...] = ()
    """Ignored parts of the project file."""
    settings: tuple[EffectiveSetting, ...] = ()
