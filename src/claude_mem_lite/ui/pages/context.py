"""What Claude sees: the context that a session would start with in a project, and what a prompt would be given."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from claude_mem_lite.client.responses import number, objects, whole
from claude_mem_lite.models import MAX_PROMPT_LENGTH, JsonObject, text
from claude_mem_lite.text import counted
from claude_mem_lite.ui.plots import WIDTH, Bar, budget_bar
from claude_mem_lite.ui.templating import Asked, of_folder, render

_LARGEST_BUDGET = 100_000
_MAX_LEFT_OUT = 200
_FRAME = "words around it"
_FULL = 0.95


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer with what it takes and what of it is in and out."""

    name: str
    tokens: int
    cap: int | None
    """None where lines are chosen by their value, whatever their layer."""
    items: Sequence[JsonObject]
    left_out: Sequence[JsonObject]
    skipped: str

    @property
    def why_not(self) -> str:
        """Why what is out is out; of a layer that had nothing, why that is."""
        if self.items or self.left_out:
            reasons = Counter(text(one.get("left_out")) for one in self.left_out)
            return ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        return self.skipped


def context(asked: Asked) -> str:
    """The page, only the context of a start and why it is so, or only what a prompt would be given."""
    project, only = asked.chosen("project"), asked.chosen("only")
    if project and only == "results":
        return render("context_prompt.html", **_tried(asked, project))
    if project and only == "start":
        return render("context_start.html", **_start(asked, project))
    known = asked.client.projects()
    projects = [one for one in known if one.get("root")]
    places = {"projects": projects, "homeless": len(known) - len(projects)}
    ids = [text(one.get("id")) for one in projects]
    if not projects or (project and project not in ids):
        name = next((text(one.get("name")) for one in known if one.get("id") == project), "")
        return render("context_nowhere.html", **places, project=project, name=name)
    here = of_folder(asked)
    project = project or (here if here in ids else ids[0])
    chosen = {"project": project, "preset": asked.chosen("preset"), "budget": str(_budget(asked) or "")}
    given = {name: value for name, value in chosen.items() if value}
    return render(
        "context.html",
        **_start(asked, project),
        **_tried(asked, project),
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


def _start(asked: Asked, project: str) -> dict[str, object]:
    told = asked.client.context("", _budget(asked), asked.chosen("preset") or None, project=project, explain=True)
    layers = _layers(told)
    tokens, budget = whole(told, "tokens"), whole(told, "budget")
    frame = max(tokens - sum(one.tokens for one in layers), 0)
    out = objects(told, "left_out")
    return {
        "told": told,
        "is_off": asked.client.home.off_switch.exists(),
        "layers": layers,
        "frame": frame,
        "frame_name": _FRAME,
        "bars": _bars(layers, frame, budget),
        "plot_width": WIDTH,
        "sentence": _sentence(layers, tokens, budget),
        "by_value": all(one.cap is None for one in layers),
        "share": f"{tokens / budget:.0%}" if budget else "",
        "free": max(budget - tokens, 0),
        "out": out[:_MAX_LEFT_OUT],
        "more_out": max(len(out) - _MAX_LEFT_OUT, 0),
        "why_nothing": _why_nothing(told),
    }


def _sentence(layers: Sequence[_Layer], tokens: int, budget: int) -> str:
    """What a start would be told, before any numbers."""
    number = sum(len(one.items) for one in layers)
    left_out = sum(len(one.left_out) for one in layers)
    is_full = tokens >= _FULL * budget
    room = "all there is room for" if is_full else f"{tokens / budget:.0%} of the room there is"
    out = f"; {counted(left_out, 'candidate is', 'candidates are')} left out" if left_out else ""
    return f"A new session here would be told {counted(number, 'thing')} before you type anything: {room}{out}."


def _layers(told: JsonObject) -> list[_Layer]:
    skipped = {text(one.get("layer")): text(one.get("reason")) for one in objects(told, "layers_skipped")}
    items, out = objects(told, "items"), objects(told, "left_out")
    return [
        _Layer(
            name=name,
            tokens=whole(one, "tokens"),
            cap=whole(one, "cap") if one.get("cap") is not None else None,
            items=[each for each in items if each.get("layer") == name],
            left_out=[each for each in out if each.get("layer") == name],
            skipped=skipped.get(name, ""),
        )
        for one in objects(told, "shares")
        if (name := text(one.get("layer")))
    ]


def _bars(layers: Sequence[_Layer], frame: int, budget: int) -> tuple[Bar, ...]:
    return budget_bar([*((one.name, one.tokens) for one in layers), (_FRAME, frame)], budget)


def _why_nothing(told: JsonObject) -> str:
    if told.get("excluded") is True:
        return "Nothing is said here: this folder is excluded in your settings."
    skipped = [one.get("reason") for one in objects(told, "layers_skipped")]
    if "no room" in skipped:
        return "Nothing fits into this budget. 300 tokens are always enough for something."
    if "nothing worth its tokens" in skipped:
        return "Nothing that is known of this project is worth its tokens."
    return "There is nothing to say yet: no session and no memory of this project is known."


def _tried(asked: Asked, project: str) -> dict[str, object]:
    prompt = asked.chosen("prompt")[:MAX_PROMPT_LENGTH]
    answer = asked.client.prompt_context("", prompt, project=project, explain=True) if prompt else None
    return {
        "prompt": prompt,
        "answer": answer,
        "candidates": objects(answer or {}, "candidates"),
        "floor": f"{number(answer, 'floor'):g}" if answer and answer.get("floor") is not None else "",
    }
