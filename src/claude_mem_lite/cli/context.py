"""The command that shows the context a new session or a prompt would be given, and why."""

import click

from claude_mem_lite.cli.options import chosen_home, connect_to_look, json_option, place_options, where
from claude_mem_lite.cli.output import field, items, plain, print_json
from claude_mem_lite.client.responses import objects
from claude_mem_lite.models import MAX_PROMPT_LENGTH, JsonObject, JsonValue

_OFF = "Memory is switched off: nothing is given until `claude-mem-lite on`. With it on, it would be this:"


@click.command(short_help="Print the context a new session or a prompt would be given.")
@place_options
@click.option("--prompt", metavar="TEXT", help="What this prompt would be given, instead of a new session.")
@click.option("--preset", metavar="NAME", help="Its layers: balanced, layers, codes, or one of config.toml.")
@click.option("--budget", metavar="N", type=click.IntRange(1, 100_000), help="Its size in tokens, at most.")
@click.option("--explain", is_flag=True, help="Say of each candidate its score, and why it is in or out.")
@json_option
def context(
    cwd: str | None,
    project: str | None,
    prompt: str | None,
    preset: str | None,
    budget: int | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Print the context a new session or a prompt would be given.

    The text exactly as the agent would see it in this folder; nothing counts as given by looking. --explain adds
    every candidate of every layer: its score as a sum or a product, and the floor that holds for it. --json has the
    text with its size, the layers in and out, and why each item is there; with --explain also what was left out. With
    --prompt it is what a prompt would be given in a session that was given nothing yet, mostly nothing. Reads only.

    \b
    Examples:
      claude-mem-lite context
      claude-mem-lite context --cwd ~/code/shop --budget 500
      claude-mem-lite context --project shop
      claude-mem-lite context --preset codes --explain
      claude-mem-lite context --prompt "why do carts live in SQLite?" --explain
    """
    place = where(cwd, project)
    if chosen_home().off_switch.exists():
        click.echo(_OFF, err=as_json or not explain)
    if prompt is not None:
        if preset or budget:
            raise click.UsageError("--prompt has no layers and its own budget: leave out --preset and --budget")
        client = connect_to_look(_prompt_json({}, explain), as_json=as_json, aside=True)
        answer = client.prompt_context(place.cwd, prompt[:MAX_PROMPT_LENGTH], explain=explain, project=place.project)
        _print_for_prompt(answer, explain, as_json)
        return
    client = connect_to_look(_as_json({}, explain), as_json=as_json, aside=True)
    answer = client.context(place.cwd, budget, preset, explain=explain, project=place.project)
    if as_json:
        print_json(_as_json(answer, explain))
        return
    text = field(answer, "context")
    if text:
        click.echo(text)
    else:
        click.echo(_why_nothing(answer), err=not explain)
    if explain:
        _print_explanation(answer)


def _print_for_prompt(answer: JsonObject, explain: bool, as_json: bool) -> None:
    if as_json:
        print_json(_prompt_json(answer, explain))
        return
    text = field(answer, "context")
    if text:
        click.echo(text)
    else:
        click.echo(f"Nothing is said to this prompt: {field(answer, 'why_silent')}.", err=not explain)
    if explain:
        floor = answer.get("floor")
        told = f"; the floor is {floor:g}, unless a candidate says otherwise" if isinstance(floor, int | float) else ""
        click.echo(f"\n{field(answer, 'tokens')} of {field(answer, 'budget')} tokens by estimate{told}")
        if field(answer, "asked"):
            click.echo(field(answer, "asked"))
        for each in objects(answer, "candidates"):
            _print_weighed(each)


def _prompt_json(answer: JsonObject, explain: bool) -> JsonObject:
    explained = ("asked", "candidates") if explain else ()
    names = ("tokens", "budget", "why_silent", "floor", "items", *explained, "build_ms")
    return {"text": answer.get("context"), **{name: answer.get(name) for name in names}}


def _print_weighed(given: JsonObject) -> None:
    left_out = field(given, "left_out")
    words = ", ".join(str(word) for word in items(given, "words"))
    click.echo(f"{'out' if left_out else 'in '}  {field(given, 'id')}{f', {left_out}' if left_out else ''}")
    click.echo(f"     [{field(given, 'kind')}] {plain(field(given, 'title'))}{f' ({plain(words)})' if words else ''}")
    for line in items(given, "explained"):
        click.echo(f"     {plain(line)}")


def _why_nothing(answer: JsonObject) -> str:
    skipped = [field(each, "reason") for each in objects(answer, "layers_skipped")]
    if answer.get("excluded"):
        return "Nothing is said here: this folder is excluded (`claude-mem-lite config` shows by whom)."
    if "no room" in skipped:
        return f"Nothing fits into {field(answer, 'budget')} tokens; 300 are always enough for something."
    if "nothing worth its tokens" in skipped:
        return "Nothing that is known here is worth its tokens; `claude-mem-lite context --explain` lists it."
    return "Nothing to say yet: no session and no memory of this folder is known."


def _print_explanation(answer: JsonObject) -> None:
    click.echo(f"\n{field(answer, 'tokens')} of {field(answer, 'budget')} tokens by estimate")
    for each in objects(answer, "items"):
        _print_candidate("in ", each, "reason")
    for each in objects(answer, "left_out"):
        _print_candidate("out", each, "left_out")
    for each in objects(answer, "layers_skipped"):
        click.echo(f"out  {field(each, 'layer')}: {field(each, 'reason')}")


def _print_candidate(mark: str, given: JsonObject, why: str) -> None:
    score = f", {field(given, 'explained')}" if field(given, "explained") else ""
    click.echo(f"{mark}  {field(given, 'layer')}: {field(given, 'source')}, {field(given, why)}{score}")
    for line in field(given, "line").splitlines():
        click.echo(f"     {plain(line)}")


def _as_json(answer: JsonObject, explain: bool) -> JsonObject:
    tokens, budget = answer.get("tokens"), answer.get("budget")
    used = round(tokens / budget, 3) if isinstance(tokens, int) and isinstance(budget, int) and budget else 0.0
    told: dict[str, JsonValue] = {
        "text": answer.get("context"),
        "tokens": tokens,
        "budget": budget,
        "budget_used": used,
        "truncated": answer.get("truncated"),
        "layers_included": answer.get("layers"),
        "layers_skipped": answer.get("layers_skipped"),
        "items": answer.get("items"),
        "build_ms": answer.get("build_ms"),
    }
    return told | ({"left_out": answer.get("left_out")} if explain else {})
