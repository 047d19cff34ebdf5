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
from claude_mem_lite.cli.output import field, items, plain, print_json
from claude_mem_lite.cli.records import kind_and_status, scope_label, tell_left_replaced, tell_relations
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import OUTSIDE_ORIGINS, JsonObject, JsonValue
from claude_mem_lite.paths import current_folder
from claude_mem_lite.scopes import SCOPES
from claude_mem_lite.text import one_line

_HEAD = """\
# Change what you like, save and close. Leave it as it is, or empty, to change nothing.
# Below the empty line stands what it says; all of it, in as many lines as you like.
"""
_NAMES = ("title", "kind", "scope", "tags")


@click.command(short_help="Change what a memory says.")
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
    """Change what a memory says.

    Without options, on a terminal, it opens your editor ($VISUAL, $EDITOR) on a small form. What you write is your
    word from then on: no model tells it anew, and only your own word replaces it. A new --text takes the place of
    all that the memory said, its details and facts included; without --title its first line is the title. Secrets
    are taken out, as by `remember`.

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
        print_json(memory)
        return
    click.echo(
        f"Changed {field(memory, 'id')} ({kind_and_status(memory)}, {scope_label(memory, client.project_names())})."
    )
    if text is not None and (field(memory, "origin") in OUTSIDE_ORIGINS or field(memory, "status") == "quarantined"):
        click.echo("Its words still count as somebody else's: too much of the old text is left.")
    tell_relations(memory)


@click.command(short_help="Hold on to a memory.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option("--off", is_flag=True, help="Let go of it again.")
@json_option
def pin(id_: str, off: bool, as_json: bool) -> None:
    """Hold on to a memory.

    What is pinned is given first, whatever its score and age; nothing newer replaces it unasked, and it is not
    retired when its code is gone. --off lets go of it.

    \b
    Examples:
      claude-mem-lite pin k7f3a5mq2x
      claude-mem-lite pin k7f3a5mq2x --off
    """
    refuse_agent("pin")
    memory = connect().pin(memory_id(id_), pinned=not off)
    if as_json:
        print_json(memory)
        return
    done = "Let go of" if off else "Pinned"
    click.echo(f"{done} {field(memory, 'id')}: {one_line(field(memory, 'title'))}")


@click.command(short_help="Say that a memory still holds, or holds again.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@json_option
def confirm(id_: str, as_json: bool) -> None:
    """Say that a memory still holds, or holds again.

    It is surer then, seen just now, and no longer stale: it is tied to the code as it stands in the current folder.
    What contradicts it is replaced by it, unless that is pinned. A memory that was retired or superseded is active
    again, so this also undoes `retire`.

    \b
    Examples:
      claude-mem-lite confirm k7f3a5mq2x
      claude-mem-lite list --status retired
    """
    refuse_agent("confirm")
    memory = connect().confirm(memory_id(id_), cwd=folder())
    if as_json:
        print_json(memory)
        return
    click.echo(f"{field(memory, 'id')} holds: {one_line(field(memory, 'title'))}")
    tell_relations(memory)


@click.command(short_help="Say that a memory does not hold any more.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option("--reason", metavar="T", default="", help="Why; shown with it.")
@json_option
def retire(id_: str, reason: str, as_json: bool) -> None:
    """Say that a memory does not hold any more.

    It stays readable (`show`, `list --status retired`) and is given to nobody. `confirm` brings it back; `forget`
    removes it for good. In an agent's shell it is refused for what the user stated, changed, pinned or confirmed.

    \b
    Examples:
      claude-mem-lite retire k7f3a5mq2x
      claude-mem-lite retire k7f3a5mq2x --reason "the importer was thrown out"
    """
    agent, client = asking_agent(current_folder()), connect()
    wanted = memory_id(id_)
    memory = client.retire_for(agent, wanted, reason=reason) if agent else client.retire(wanted, reason=reason)
    if as_json:
        print_json(memory)
        return
    click.echo(
        f"Retired {field(memory, 'id')}: {one_line(field(memory, 'title'))}\n"
        f"`claude-mem-lite confirm {field(memory, 'id')}` brings it back."
    )
    tell_left_replaced(memory)


def _by_form(client: Client, wanted: str) -> JsonObject | None:
    """Have a memory changed in an editor; None when nothing was. What was typed is kept until it is stored."""
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
    """What the user changed about a memory in an editor."""
    try:
        click.edit(filename=str(form))
    except click.ClickException as error:
        could_not_run = isinstance(error.__cause__, OSError)
        told = "no editor could be run" if could_not_run else "the editor ended with an error"
        raise MemoryLiteError(f"{told} ({error.format_message()})", "set EDITOR, or use --title and --text") from None
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


def _form(memory: JsonObject) -> str:
    tags = ", ".join(plain(tag) for tag in items(memory, "tags"))
    head = (
        f"title: {one_line(field(memory, 'title'))}",
        f"kind: {field(memory, 'kind')}",
        f"scope: {field(memory, 'scope')}",
        f"tags: {tags}",
    )
    facts = "\n".join(f"- {plain(fact)}" for fact in items(memory, "facts"))
    said = "\n\n".join(part for part in (field(memory, "summary"), field(memory, "detail"), facts) if part.strip())
    return "\n".join((*head, "", said, ""))


def _read(form: str) -> dict[str, str]:
    lines = form.replace("\r\n", "\n").split("\n")
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines.pop(0)
    found = dict.fromkeys(_NAMES, "")
    while lines and lines[0].strip():
        name, colon, value = lines.pop(0).partition(":")
        if not colon or name.strip().lower() not in found:
            raise MemoryLiteError(
                "the form cannot be read: above its empty line stand title, kind, scope and tags only",
                "nothing was changed",
            )
        found[name.strip().lower()] = value.strip()
    return {**found, "text": "\n".join(lines).strip()}


def _tags(written: str) -> list[str]:
    return [tag.strip() for tag in written.split(",") if tag.strip()]
