"""Responses of the context API: texts for a new session or a prompt, with all candidates."""

from collections.abc import Mapping

from claude_mem_lite.models import ReceiptItem
from claude_mem_lite.responses.encoding import Response, response


@response
class ContextItem(Response):
    """Candidate line of a context, with its score."""

    layer: str
    source: str
    """Id of a memory or of a session."""
    memory: str | None
    reason: str
    line: str
    score: float | None
    """None where the layer has its own order."""
    parts: Mapping[str, float]
    explained: str


@response
class OmittedItem(ContextItem):
    """Candidate line outside the text."""

    left_out: str
    """Reason."""


@response
class LayerShare(Response):
    """Tokens of a layer, header included."""

    layer: str
    tokens: int
    cap: int | None
    """None where lines are chosen by their value."""


@response
class SkippedLayer(Response):
    """Layer outside the text."""

    layer: str
    reason: str


@response
class ContextResponse(Response):
    """Context of a new session; empty text when no line is worth its tokens."""

    context: str
    tokens: int
    budget: int
    preset: str
    presets: tuple[str, ...]
    truncated: bool
    layers: tuple[str, ...]
    layers_skipped: tuple[SkippedLayer, ...]
    shares: tuple[LayerShare, ...]
    excluded: bool
    """The configuration excludes the folder."""
    items: tuple[ContextItem, ...]
    left_out: tuple[OmittedItem, ...]
    build_ms: float


@response
class PromptCandidate(Response):
    """Memory scored for a prompt."""

    id: str
    kind: str
    title: str
    score: float | None
    parts: Mapping[str, float]
    floor: float | None
    """None for a candidate without a floor."""
    explained: tuple[str, ...]
    words: tuple[str, ...]
    """Words of the prompt that the memory has."""
    left_out: str


@response
class PromptContextResponse(Response):
    """Text for a prompt, or the reason for silence."""

    context: str
    tokens: int
    budget: int
    why_silent: str
    asked: str
    floor: float | None = None
    """None when no candidate was compared with it."""
    items: tuple[ReceiptItem, ...] = ()
    candidates: tuple[PromptCandidate, ...] = ()
    """Empty unless the request asks for an explanation."""
    build_ms: float = 0.0
