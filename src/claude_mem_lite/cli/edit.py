"""Commands that change one memory: edit, pin, confirm, retire."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import (
    asking_agent,
    connect,
    doubt_language,
    folder,
    json_option,
    memory_id,
    refuse_agent,
)
from claude_mem_lite.cli.options import kind as kind_type
from claude_mem_lite.cli.options import scope as scope_type
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.cli.records import kind_and_status, print_left_replaced, print_relations, scope_label
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import OUTSIDE_ORIGINS, JsonValue
from claude_mem_lite.paths import current_folder
from claude_mem_lite.responses.memories import MemoryRecord
from claude_mem_lite.scopes import SCOPES
from claude_mem_lite.text import one_line

_HEAD = """\
# Change what you like, save and close. Leave it as it is, or empty, to change nothing.
# The text is below the empty line, in as many lines as you like.
"""
_NAMES = ("title", "kind", "scope", "tags")


@click.command(short_help="Change the text or the fields of a memory.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option("--title", metavar="T", help="Its title, in a line.")
@click.option("--text", metavar="T", help="What it says; - reads it from standard input.")
@click.option(
    "--kind",
    metavar="K",
    type=kind_type,
    shell_complete=completion_values.kinds,
    help="What it is: decision, rule, gotcha, …",
)
@click.option(
    "--scope", metavar="S", type=scope_type, shell_complete=completion_values.scopes, help=f"Where it holds: {SCOPES}."
)
@click.option("--tag", "tags", metavar="T", multiple=True, help="A word more to find it by; may be repeated.")
@click.option("--untag", "untags", metavar="T", multiple=True, help="A tag to take away; may be repeated.")
@json_option
def edit(
    id_: str,
    title: str | None,
    text: str | None,
    kind: str | None,
    scope: str | None,
    tags: Sequence[str],
    untags: Sequence[str],
    as_json: bool,
) -> None:
    """Change the text or the fields of a memory.

    Without options, on a terminal, opens your editor ($VISUAL, $EDITOR) on a small form. An edited memory counts as
    your own statement: no model rewrites it, and only another statement of yours replaces it. A new --text replaces the
    whole content, details and facts included; without --title the first line becomes the title. Secrets are removed, as
    by `remember`.

    \b
    Examples:
      claude-mem-lite edit k7f3a5mq2x
      claude-mem-lite edit k7f3a5mq2x --text "The test database listens on port 5434"
      claude-mem-lite edit k7f3a5mq2x --kind rule --scope universal
      claude-mem-lite edit k7f3a5mq2x --tag db --untag todo
    """
    refuse_agent("edit")
    wanted = memory_id(id_)
    if text == "-":
        text = sys.stdin.read()
    for name, value in (("--title", title), ("--text", text)):
        if value is not None and not value.strip():
            raise click.UsageError(f"{name} needs some words; `claude-mem-lite forget {wanted}` removes a memory")
    given = {"title": title, "text": text, "kind": kind, "scope": scope}
    changes: dict[str, JsonValue] = {name: value for name, value in given.items() if value is not None}
    changes |= {name: list(values) for name, values in (("tags", tags), ("untags", untags)) if values}
    client = connect()
    if not changes:
        if not sys.stdin.isatty():
            raise click.UsageError("say what to change: --title, --text, --kind, --scope, --tag or --untag")
        edited = _by_form(client, wanted)
        if edited is None:
            click.echo("Nothing was changed.")
            return
        memory = edited
    else:
        memory = client.change(wanted, changes, cwd=folder())
    if doubt := doubt_language(scope):
        click.echo(doubt, err=True)
    if as_json:
        print_json(memory.raw)
        return
    click.echo(
        f"Changed {plain(memory.id)} ({kind_and_status(memory)}, {scope_label(memory, client.project_names())})."
    )
    if text is not None and (memory.origin in OUTSIDE_ORIGINS or memory.status == "quarantined"):
        click.echo("The text still counts as someone else's: too much of the old text is left, or it gives orders.")
    print_relations(memory)


@click.command(short_help="Pin a memory, so that it is always given first.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option("--off", is_flag=True, help="Let go of it again.")
@json_option
def pin(id_: str, off: bool, as_json: bool) -> None:
    """Pin a memory, so that it is always given first.

    A pinned memory comes first whatever its score and age. No newer memory replaces it by itself, and it is not retired
    when its code is gone. --off removes the pin.

    \b
    Examples:
      claude-mem-lite pin k7f3a5mq2x
      claude-mem-lite pin k7f3a5mq2x --off
    """
    refuse_agent("pin")
    memory = connect().pin(memory_id(id_), pinned=not off)
    if as_json:
        print_json(memory.raw)
        return
    done = "Let go of" if off else "Pinned"
    click.echo(f"{done} {plain(memory.id)}: {one_line(plain(memory.title))}")


@click.command(short_help="Say that a memory still holds, or holds again.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@json_option
def confirm(id_: str, as_json: bool) -> None:
    """Say that a memory still holds, or holds again.

    Raises the confidence of the memory, marks it as seen now, and links it to the code as it is in the current folder.
    Contradicting memories are replaced, unless pinned. A retired or superseded memory becomes active again, so
    `confirm` also undoes `retire`.

    \b
    Examples:
      claude-mem-lite confirm k7f3a5mq2x
      claude-mem-lite list --status retired
    """
    refuse_agent("confirm")
    memory = connect().confirm(memory_id(id_), cwd=folder())
    if as_json:
        print_json(memory.raw)
        return
    click.echo(f"{plain(memory.id)} holds: {one_line(plain(memory.title))}")
    print_relations(memory)


@click.command(short_help="Say that a memory no longer holds.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option("--reason", metavar="T", default="", help="Why; shown with it.")
@json_option
def retire(id_: str, reason: str, as_json: bool) -> None:
    """Say that a memory no longer holds.

    A retired memory stays readable (`show`, `list --status retired`), but no session gets it. `confirm` brings it back;
    `forget` removes it for good. In an agent's shell, memories that the user stated, changed, pinned or confirmed
    cannot be retired.

    \b
    Examples:
      claude-mem-lite retire k7f3a5mq2x
      claude-mem-lite retire k7f3a5mq2x --reason "the importer was thrown out"
    """
    agent, client = asking_agent(current_folder()), connect()
    wanted = memory_id(id_)
    memory = client.retire_for(agent, wanted, reason=reason) if agent else client.retire(wanted, reason=reason)
    if as_json:
        print_json(memory.raw)
        return
    title = f": {one_line(plain(memory.title))}" if memory.title else ""
    click.echo(f"Retired {plain(memory.id)}{title}\n`claude-mem-lite confirm {plain(memory.id)}` brings it back.")
    print_left_replaced(memory)


def _by_form(client: Client, wanted: str) -> MemoryRecord | None:
    """Change a memory in an editor; None without a change. The form stays on disk until the change is stored."""
    memory = client.memory(wanted)
    before = _form(memory)
    descriptor, path = tempfile.mkstemp(prefix="claude-mem-lite-", suffix=".txt")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(_HEAD + before)
    form = Path(path)
    try:
        changes = _edited(form, before)
        if changes and _form(client.memory(wanted)) != before:
            raise MemoryLiteError(f"{wanted} was changed while you edited it", "nothing was changed")
        changed = client.change(wanted, changes, cwd=folder()) if changes else None
    except (MemoryLiteError, click.UsageError) as error:
        if _text_of(form) in ("", _HEAD + before):
            form.unlink(missing_ok=True)
            raise
        message = error.message if isinstance(error, MemoryLiteError) else error.format_message()
        next_step = error.next_step if isinstance(error, MemoryLiteError) else "nothing was changed"
        raise MemoryLiteError(message, f"{next_step}; what you wrote is in {form}") from None
    form.unlink(missing_ok=True)
    return changed


def _edited(form: Path, before: str) -> dict[str, JsonValue]:
    """Return the changes that the user made in an editor."""
    try:
        click.edit(filename=str(form))
    except click.ClickException as error:
        could_not_run = isinstance(error.__cause__, OSError)
        problem = "no editor could be run" if could_not_run else "the editor ended with an error"
        raise MemoryLiteError(
            f"{problem} ({error.format_message()})", "set EDITOR, or use --title and --text"
        ) from None
    after = _text_of(form)
    if not after.strip():
        return {}
    old, new = _read(before), _read(after)
    changes: dict[str, JsonValue] = {name: new[name] for name in ("title", "text") if new[name] != old[name]}
    if any(not value for value in changes.values()):
        raise MemoryLiteError("a memory needs a title and some text", "nothing was changed")
    if "text" in changes and old["title"] != one_line(old["text"].split("\n", 1)[0]):
        changes["title"] = new["title"]  # it was there to be seen, and was left: it is not to follow the text
    for name, reader in (("kind", kind_type), ("scope", scope_type)):
        if new[name] and new[name] != old[name]:
            changes[name] = reader(new[name])
    tags, others = _tags(old["tags"]), _tags(new["tags"])
    if more := [tag for tag in others if tag not in tags]:
        changes["tags"] = more
    if less := [tag for tag in tags if tag not in others]:
        changes["untags"] = less
    return changes


def _text_of(form: Path) -> str:
    try:
        return form.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""


def _form(memory: MemoryRecord) -> str:
    head = (
        f"title: {one_line(plain(memory.title))}",
        f"kind: {plain(memory.kind)}",
        f"scope: {plain(memory.scope)}",
        f"tags: {', '.join(map(plain, memory.tags))}",
    )
    facts = "\n".join(f"- {plain(fact)}" for fact in memory.facts)
    text = "\n\n".join(part for part in (plain(memory.summary), plain(memory.detail), facts) if part.strip())
    return "\n".join((*head, "", text, ""))


def _read(form: str) -> dict[str, str]:
    lines = form.replace("\r\n", "\n").split("\n")
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines.pop(0)
    found = dict.fromkeys(_NAMES, "")
    while lines and lines[0].strip():
        name, colon, value = lines.pop(0).partition(":")
        if not colon or name.strip().lower() not in found:
            raise MemoryLiteError(
                "the form cannot be read: only title, kind, scope and tags may be above its empty line",
                "nothing was changed",
            )
        found[name.strip().lower()] = value.strip()
    return {**found, "text": "\n".join(lines).strip()}


def _tags(written: str) -> list[str]:
    return [tag.strip() for tag in written.split(",") if tag.strip()]
