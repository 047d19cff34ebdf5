"""Command `context`: the text that a new session or a prompt would get, and the reasons."""

import click

from claude_mem_lite.cli.options import WholeNumber, chosen_home, connect_to_read, json_option, place_options, where
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.client.client import Client
from claude_mem_lite.models import MAX_PROMPT_LENGTH, JsonObject, JsonValue
from claude_mem_lite.responses.context import ContextItem, ContextResponse, PromptCandidate, PromptContextResponse

_OFF = "Memory is switched off: nothing is given until `claude-mem-lite on`. With it on, it would be this:"


@click.command(short_help="Print the context that a new session or a prompt would get.")
@place_options
@click.option("--prompt", metavar="TEXT", help="What this prompt would be given, instead of a new session.")
@click.option("--preset", metavar="NAME", help="Its layers: balanced, layers, codes, or one of config.toml.")
@click.option("--budget", metavar="N", type=WholeNumber(1, 100_000), help="Its size in tokens, at most.")
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
    """Print the context that a new session or a prompt would get.

    Prints the text exactly as the agent would see it in this folder; looking does not count as an injection. --explain
    adds every candidate of every layer: the score as a sum or a product, and the minimum score. --json has the text
    with its size, the layers in and out, and the reason for each item; with --explain also the omitted items. With
    --prompt, prints the text for a prompt in a session without earlier injections; often there is none. Reads only.

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
        client = connect_to_read(_prompt_json({}, explain), as_json=as_json, aside=True)
        response = client.prompt_context(place.cwd, prompt[:MAX_PROMPT_LENGTH], explain=explain, project=place.project)
        _print_for_prompt(response, explain, as_json)
        return
    client = connect_to_read(_as_json({}, explain), as_json=as_json, aside=True)
    given = client.context(place.cwd, budget, preset, explain=explain, project=place.project)
    _print_for_session(client, given, explain, as_json)


def _print_for_session(client: Client, response: ContextResponse, explain: bool, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(response.raw, explain))
        return
    if response.context:
        click.echo(plain(response.context))
    else:
        click.echo(_why_nothing(client, response), err=not explain)
    if explain:
        _print_explanation(response)


def _print_for_prompt(response: PromptContextResponse, explain: bool, as_json: bool) -> None:
    if as_json:
        print_json(_prompt_json(response.raw, explain))
        return
    if response.context:
        click.echo(plain(response.context))
    else:
        click.echo(f"This prompt gets no memory: {plain(response.why_silent)}.", err=not explain)
    if explain:
        floor = response.floor
        note = f"; the floor is {floor:g}, unless a candidate says otherwise" if floor is not None else ""
        click.echo(f"\n{response.tokens} of {response.budget} tokens by estimate{note}")
        if response.asked:
            click.echo(plain(response.asked))
        for candidate in response.candidates:
            _print_scored(candidate)


def _prompt_json(response: JsonObject, explain: bool) -> JsonObject:
    explained = ("asked", "candidates") if explain else ()
    names = ("tokens", "budget", "why_silent", "floor", "items", *explained, "build_ms")
    return {"text": response.get("context"), **{name: response.get(name) for name in names}}


def _print_scored(candidate: PromptCandidate) -> None:
    left_out, words = plain(candidate.left_out), plain(", ".join(candidate.words))
    click.echo(f"{'out' if left_out else 'in '}  {plain(candidate.id)}{f', {left_out}' if left_out else ''}")
    click.echo(f"     [{plain(candidate.kind)}] {plain(candidate.title)}{f' ({words})' if words else ''}")
    for line in candidate.explained:
        click.echo(f"     {plain(line)}")


def _why_nothing(client: Client, response: ContextResponse) -> str:
    reasons = [skipped.reason for skipped in response.layers_skipped]
    if response.excluded:
        return "Nothing is said here: this folder is excluded (`claude-mem-lite config` shows by whom)."
    if "no room" in reasons:
        return f"Nothing fits into {response.budget} tokens; 300 are always enough for something."
    if "nothing worth its tokens" in reasons:
        return "Nothing that is known here is worth its tokens; `claude-mem-lite context --explain` lists it."
    listed = "`claude-mem-lite projects` lists what is known, and `claude-mem-lite context --project NAME` shows it"
    next_step = listed if client.projects() else "`claude-mem-lite import transcripts` imports earlier sessions"
    return f"Nothing to say yet: no session and no memory of this folder is known. {next_step}."


def _print_explanation(response: ContextResponse) -> None:
    click.echo(f"\n{response.tokens} of {response.budget} tokens by estimate")
    for item in response.items:
        _print_candidate("in ", item, item.reason)
    for omitted in response.left_out:
        _print_candidate("out", omitted, omitted.left_out)
    for skipped in response.layers_skipped:
        click.echo(f"out  {plain(skipped.layer)}: {plain(skipped.reason)}")


def _print_candidate(mark: str, item: ContextItem, reason: str) -> None:
    score = f", {plain(item.explained)}" if item.explained else ""
    click.echo(f"{mark}  {plain(item.layer)}: {plain(item.source)}, {plain(reason)}{score}")
    for line in plain(item.line).splitlines():
        click.echo(f"     {line}")


def _as_json(response: JsonObject, explain: bool) -> JsonObject:
    tokens, budget = response.get("tokens"), response.get("budget")
    used = round(tokens / budget, 3) if isinstance(tokens, int) and isinstance(budget, int) and budget else 0.0
    shown: dict[str, JsonValue] = {
        "text": response.get("context"),
        "tokens": tokens,
        "budget": budget,
        "budget_used": used,
        "truncated": response.get("truncated"),
        "layers_included": response.get("layers"),
        "layers_skipped": response.get("layers_skipped"),
        "items": response.get("items"),
        "build_ms": response.get("build_ms"),
    }
    return shown | ({"left_out": response.get("left_out")} if explain else {})
