"""Page of the context that a session would start with in a project, and of the text that a prompt would get."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from claude_mem_lite.models import MAX_PROMPT_LENGTH
from claude_mem_lite.responses.context import ContextItem, ContextResponse, OmittedItem, PromptContextResponse
from claude_mem_lite.text import counted
from claude_mem_lite.ui.plots import WIDTH, Bar, budget_bar
from claude_mem_lite.ui.templating import Asked, View, of_folder, render
from claude_mem_lite.values import frozen

_LARGEST_BUDGET = 100_000
_MAX_LEFT_OUT = 200
_FRAME = "words around it"
_FULL = 0.95


@frozen
class _Layer:
    """One layer with its tokens and its candidates, in the text and left out."""

    name: str
    tokens: int
    cap: int | None
    """None where lines are chosen by their value, whatever their layer."""
    items: Sequence[ContextItem]
    left_out: Sequence[OmittedItem]
    skipped: str

    @property
    def why_not(self) -> str:
        """Return the reasons of the omitted candidates, or the reason why a layer has no candidates."""
        if self.items or self.left_out:
            reasons = Counter(omitted.left_out for omitted in self.left_out)
            return ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        return self.skipped


@frozen
class _Tried:
    """Prompt that the user tries, with the response of the worker."""

    prompt: str
    answer: PromptContextResponse | None = None

    @property
    def floor(self) -> str:
        return f"{self.answer.floor:g}" if self.answer and self.answer.floor is not None else ""


def context(asked: Asked) -> str:
    """Return the page, only the context of a start, or only the text that a prompt would get."""
    project, only = asked.chosen("project"), asked.chosen("only")
    if project and only == "results":
        return render("context_prompt.html", tried=_tried(asked, project))
    if project and only == "start":
        return render("context_start.html", start=_start(asked, project))
    known = asked.client.projects()
    projects = [listed for listed in known if listed.root]
    places = {"projects": projects, "homeless": len(known) - len(projects)}
    ids = [listed.id for listed in projects]
    if not projects or (project and project not in ids):
        name = next((listed.name for listed in known if listed.id == project), "")
        return render("context_nowhere.html", **places, project=project, name=name)
    here = of_folder(asked)
    project = project or (here if here in ids else ids[0])
    chosen = {"project": project, "preset": asked.chosen("preset"), "budget": str(_budget(asked) or "")}
    given = {name: value for name, value in chosen.items() if value}
    return render(
        "context.html",
        start=_start(asked, project),
        tried=_tried(asked, project),
        **places,
        chosen=chosen,
        given=given,
        longest=MAX_PROMPT_LENGTH,
        largest=_LARGEST_BUDGET,
        fresh=f"/context?{urlencode({**given, 'only': 'start'})}",
    )


def _budget(asked: Asked) -> int | None:
    given = asked.chosen("budget")
    return min(max(int(given), 1), _LARGEST_BUDGET) if given.isascii() and given.isdigit() and len(given) < 9 else None


def _start(asked: Asked, project: str) -> View:
    response = asked.client.context("", _budget(asked), asked.chosen("preset") or None, project=project, explain=True)
    layers = _layers(response)
    tokens, budget = response.tokens, response.budget
    frame = max(tokens - sum(layer.tokens for layer in layers), 0)
    return View(
        response,
        is_off=asked.client.home.off_switch.exists(),
        shown_layers=layers,
        frame=frame,
        frame_name=_FRAME,
        bars=_bars(layers, frame, budget),
        plot_width=WIDTH,
        sentence=_sentence(layers, tokens, budget),
        by_value=all(layer.cap is None for layer in layers),
        share=f"{tokens / budget:.0%}" if budget else "",
        free=max(budget - tokens, 0),
        out=response.left_out[:_MAX_LEFT_OUT],
        more_out=max(len(response.left_out) - _MAX_LEFT_OUT, 0),
        why_nothing=_why_nothing(response),
    )


def _sentence(layers: Sequence[_Layer], tokens: int, budget: int) -> str:
    """Return the sentence about a start that stands above the numbers."""
    number = sum(len(layer.items) for layer in layers)
    left_out = sum(len(layer.left_out) for layer in layers)
    is_full = tokens >= _FULL * budget
    room = "all there is room for" if is_full else f"{tokens / budget:.0%} of the room there is"
    out = f"; {counted(left_out, 'candidate is', 'candidates are')} left out" if left_out else ""
    return f"A new session here would get {counted(number, 'item')} before you type anything: {room}{out}."


def _layers(response: ContextResponse) -> list[_Layer]:
    skipped = {layer.layer: layer.reason for layer in response.layers_skipped}
    return [
        _Layer(
            name=share.layer,
            tokens=share.tokens,
            cap=share.cap,
            items=[item for item in response.items if item.layer == share.layer],
            left_out=[item for item in response.left_out if item.layer == share.layer],
            skipped=skipped.get(share.layer, ""),
        )
        for share in response.shares
        if share.layer
    ]


def _bars(layers: Sequence[_Layer], frame: int, budget: int) -> tuple[Bar, ...]:
    return budget_bar([*((layer.name, layer.tokens) for layer in layers), (_FRAME, frame)], budget)


def _why_nothing(response: ContextResponse) -> str:
    if response.excluded:
        return "Nothing is said here: this folder is excluded in your settings."
    reasons = [skipped.reason for skipped in response.layers_skipped]
    if "no room" in reasons:
        return "Nothing fits into this budget. 300 tokens are always enough for something."
    if "nothing worth its tokens" in reasons:
        return "Nothing that is known of this project is worth its tokens."
    return "There is nothing to say yet: no session and no memory of this project is known."


def _tried(asked: Asked, project: str) -> _Tried:
    prompt = asked.chosen("prompt")[:MAX_PROMPT_LENGTH]
    if not prompt:
        return _Tried(prompt)
    return _Tried(prompt, asked.client.prompt_context("", prompt, project=project, explain=True))
