"""Which layers a context has, in order of priority, and how much of it each may take.

What the settings may name stands in `config`, which knows no layers: a new layer or preset is named there too."""

from collections.abc import Mapping
from dataclasses import dataclass

from claude_mem_lite.config import RESERVE, Config
from claude_mem_lite.context.layers import code_changes, knowledge, observations, session_codes, sessions
from claude_mem_lite.context.layers.layer import Find, Layer
from claude_mem_lite.errors import ConfigError

# Every layer by its name, with the header of its lines.
LAYERS: dict[str, tuple[str, Find]] = {
    "handoff": ("## Where the last session stopped", sessions.handoff),
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
# Layers find more, because some of it may be told in others; the others are bounded by their room alone.
_MOST = {"learnings": 10, "observations": 10, "sessions": 10}
_SEARCHING = ("observations",)
_MORE_LINES = {"handoff": "- and {} more: `claude-mem-lite list --kind handoff`"}


@dataclass(frozen=True, slots=True)
class Preset:
    """Layers by priority. What their caps leave of 2000 tokens is the reserve: for the frame and for what flows on."""

    name: str
    layers: tuple[Layer, ...]
    by_value: bool = False
    """Lines are told by their value, whatever their layer: it has no caps."""


def made_of(name: str, caps: Mapping[str, int], *, by_value: bool = False) -> Preset:
    """The preset with these layers and caps, in this order."""
    layers = [(layer, cap, *LAYERS[layer]) for layer, cap in caps.items() if layer != RESERVE]
    return Preset(
        name,
        tuple(
            Layer(layer, header, cap, find, _MOST.get(layer), layer in _SEARCHING, _MORE_LINES.get(layer, ""))
            for layer, cap, header, find in layers
        ),
        by_value,
    )


SILENT = Preset("silent", ())
"""For folders to which nothing is given."""
BALANCED = made_of(
    "balanced",
    dict.fromkeys(("handoff", "sessions", "project", "universal", "language", "changed code", "observations"), 0),
    by_value=True,
)
BY_LAYERS = made_of(
    "layers",
    {"session index": 400, "function map": 500, "learnings": 300, "observations": 600, RESERVE: 200},
)
BY_CODES = made_of(
    "codes",
    {"impl": 300, "dec": 200, "block+next": 300, "project": 400, "universal": 300, "language": 300, RESERVE: 200},
)
BUILT_IN = {preset.name: preset for preset in (BALANCED, BY_LAYERS, BY_CODES)}
LAST_RESORT = made_of("last resort", {"sessions": 350, "observations": 400}).layers
"""What is told where a preset has nothing to say."""


def known(config: Config) -> Mapping[str, Preset]:
    """Every preset by its name, those of the settings too."""
    return {**BUILT_IN, **{one.name: made_of(one.name, dict(one.caps)) for one in config.presets}}


def chosen(config: Config, name: str = "") -> Preset:
    """The preset of this name, or the one of the settings; ConfigError when there is none."""
    wanted, presets = name or config.preset, known(config)
    if wanted not in presets:
        raise ConfigError(f"there is no preset {wanted[:40]!r}", f"known are {', '.join(presets)}")
    return presets[wanted]
