"""The command that shows the context a new session would be given, and why."""

import click

from claude_mem_lite.cli.options import connect, cwd_option, json_option, where
from claude_mem_lite.cli.output import field, items, plain, print_json
from claude_mem_lite.models import JsonObject, JsonValue


@click.command(short_help="Print the context a new session would be given.")
@cwd_option
@click.option("--preset", metavar="NAME", help="Its layers: balanced, layers, codes, or one of config.toml.")
@click.option("--budget", metavar="N", type=click.IntRange(1, 100_000), help="Its size in tokens, at most.")
@click.option("--explain", is_flag=True, help="Say of each candidate its score, and why it is in or out.")
@json_option
def context(cwd: str | None, preset: str | None, budget: int | None, explain: bool, as_json: bool) -> None:
    """Print the context a new session would be given.

    The text exactly as the agent would see it in this folder; nothing counts as given by looking. --explain adds
    every candidate of every layer, with its score by parts. --json has the text with its size, the layers in and
    out, and why each item is there; with --explain also what was left out. Reads only.

    \b
    Examples:
      claude-mem-lite context
      claude-mem-lite context --cwd ~/code/shop --budget 500
      claude-mem-lite context --preset codes --explain
    """
    answer = connect().context(where(cwd, False).cwd, budget, preset, explain=explain)
    if as_json:
        print_json(_as_json(answer, explain))
        return
    text = field(answer, "context")
    if text:
        click.echo(text)
    else:
        click.echo(_why_nothing(answer), err=True)
    if explain:
        _print_explanation(answer)


def _why_nothing(answer: JsonObject) -> str:
    skipped = [field(each, "reason") for each in items(answer, "layers_skipped") if isinstance(each, dict)]
    if answer.get("excluded"):
        return "Nothing is said here: this folder is excluded in config.toml."
    if "no room" in skipped:
        return f"Nothing fits into {field(answer, 'budget')} tokens; 300 are always enough for something."
    return "Nothing to say yet: no session and no memory of this folder is known."


def _print_explanation(answer: JsonObject) -> None:
    click.echo(f"\n{field(answer, 'tokens')} of {field(answer, 'budget')} tokens by estimate")
    for each in items(answer, "items"):
        _print_candidate("in ", each, "reason")
    for each in items(answer, "left_out"):
        _print_candidate("out", each, "left_out")
    for each in items(answer, "layers_skipped"):
        if isinstance(each, dict):
            click.echo(f"out  {field(each, 'layer')}: {field(each, 'reason')}")


def _print_candidate(mark: str, given: JsonValue, why: str) -> None:
    if not isinstance(given, dict):
        return
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
