"""Presets: the layers of a context in order of priority, and the cap of each.

`config` lists the permitted names without importing layers: add a new layer or preset in both."""

from collections.abc import Mapping

from claude_mem_lite.config import RESERVE, Config
from claude_mem_lite.context.layers import code_changes, handoff, knowledge, observations, session_codes, sessions
from claude_mem_lite.context.layers.layer import Find, Layer
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.values import frozen

# Header and function of every layer.
LAYERS: dict[str, tuple[str, Find]] = {
    "handoff": ("## Where the last session stopped", handoff.handoff_items),
    "sessions": ("## Last sessions", sessions.sessions_by_value),
    "session index": ("## Last sessions", sessions.session_index),
    "project": ("## Known about this project", knowledge.project_knowledge),
    "universal": ("## Known everywhere", knowledge.universal_knowledge),
    "language": ("## Known about its language", knowledge.language_knowledge),
    "learnings": ("## Learned so far", knowledge.learnings),
    "changed code": ("## Code left unfinished or decided on", code_changes.unfinished_code),
    "function map": ("## Functions that the last sessions worked on", code_changes.function_map),
    "observations": ("## Earlier work", observations.observations),
    "impl": ("## Done in the last sessions", session_codes.impl),
    "dec": ("## Decided in the last sessions", session_codes.dec),
    "block+next": ("## Blocked and left to do", session_codes.block_and_next),
}
# Layers find more candidates, because other layers may show some of them. Other layers are limited by room alone.
_MAX_ITEMS = {"learnings": 10, "observations": 10, "sessions": 10}
_SEARCHING = ("observations",)
_MORE_LINES = {"handoff": "- and {} more: `claude-mem-lite list --kind handoff`"}


@frozen
class Preset:
    """Layers by priority. The rest of 2000 tokens after the caps is the reserve, for the frame and for layers that need
    more."""

    name: str
    layers: tuple[Layer, ...]
    by_value: bool = False
    """Selects lines of all layers by value, without caps."""


def make_preset(name: str, caps: Mapping[str, int], *, by_value: bool = False) -> Preset:
    """Return a preset with layers and caps, in the order of the caps."""
    layers = [(layer, cap, *LAYERS[layer]) for layer, cap in caps.items() if layer != RESERVE]
    return Preset(
        name,
        tuple(
            Layer(layer, header, cap, find, _MAX_ITEMS.get(layer), layer in _SEARCHING, _MORE_LINES.get(layer, ""))
            for layer, cap, header, find in layers
        ),
        by_value,
    )


SILENT = Preset("silent", ())
"""Preset of folders that get no context."""
BALANCED = make_preset(
    "balanced",
    dict.fromkeys(("handoff", "sessions", "project", "universal", "language", "changed code", "observations"), 0),
    by_value=True,
)
BY_LAYERS = make_preset(
    "layers",
    {"session index": 400, "function map": 500, "learnings": 300, "observations": 600, RESERVE: 200},
)
BY_CODES = make_preset(
    "codes",
    {"impl": 300, "dec": 200, "block+next": 300, "project": 400, "universal": 300, "language": 300, RESERVE: 200},
)
BUILT_IN = {preset.name: preset for preset in (BALANCED, BY_LAYERS, BY_CODES)}
LAST_RESORT = make_preset("last resort", {"sessions": 350, "observations": 400}).layers
"""Layers for a preset that selects nothing."""


def all_presets(config: Config) -> Mapping[str, Preset]:
    """Return every preset by name, with the presets of the settings."""
    return {**BUILT_IN, **{preset.name: make_preset(preset.name, dict(preset.caps)) for preset in config.presets}}


def find_preset(config: Config, name: str = "") -> Preset:
    """Return the preset with a name, or the preset of the settings; raise ConfigError for an unknown name."""
    requested, presets = name or config.preset, all_presets(config)
    if requested not in presets:
        raise ConfigError(f"there is no preset {requested[:40]!r}", f"known are {', '.join(presets)}")
    return presets[requested]
