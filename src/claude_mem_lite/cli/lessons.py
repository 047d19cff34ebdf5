"""The command `lessons`: what was learned from the user's words, what is unsure, and the user's last word on both."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.groups import HelpfulGroup
from claude_mem_lite.cli.options import (
    all_projects_option,
    connect,
    connect_to_look,
    folder,
    json_option,
    limit_option,
    refuse_agent,
)
from claude_mem_lite.cli.output import dim, field, print_json
from claude_mem_lite.cli.records import head, project_names
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.responses import Where, number, objects, part, whole
from claude_mem_lite.models import JsonObject, users_word
from claude_mem_lite.text import one_line, within

_MAX_SENTENCE = 300
_MAX_SAID = 3
_MAX_BEFORE = 120
_NOTHING: JsonObject = {"learned": [], "unsure": [], "more": {"learned": 0, "unsure": 0}}


@click.group(cls=HelpfulGroup, short_help="See, accept, dismiss or edit what was learned.", invoke_without_command=True)
@all_projects_option
@limit_option(50)
@json_option
@click.pass_context
def lessons(ctx: click.Context, all_projects: bool, limit: int, as_json: bool) -> None:
    """See, accept, dismiss or edit what was learned.

    A lesson is something you said in a prompt that holds beyond its task: a correction, a preference, a rule, a fact.
    What is surely one is kept at once. What is unsure waits, given to nobody, until you say it again in another
    session, your agent or a model judges it, or you decide here. Without a command this lists both, for the project
    of the current folder, with when and in which session it was said.

    \b
    Examples:
      claude-mem-lite lessons
      claude-mem-lite lessons accept m4t9w2cz7e
      claude-mem-lite lessons dismiss m4t9w2cz7e
      claude-mem-lite lessons edit m4t9w2cz7e "Keep commits small: reviewers read them one by one"
    """
    if ctx.invoked_subcommand is None:
        _list(all_projects, limit, as_json)


@lessons.command("list", short_help="List lessons; the same as `lessons` alone.")
@all_projects_option
@limit_option(50)
@json_option
def list_(all_projects: bool, limit: int, as_json: bool) -> None:
    """List lessons; the same as `lessons` alone.

    Those that were learned, then those that are unsure, newest first. Reads only.

    \b
    Example:
      claude-mem-lite lessons list --all-projects
    """
    _list(all_projects, limit, as_json)


def _list(all_projects: bool, limit: int, as_json: bool) -> None:
    client = connect_to_look(_NOTHING, as_json=as_json)
    found = client.lessons(Where(folder(), all_projects=all_projects), limit=limit)
    if as_json:
        print_json(found)
        return
    every = [*objects(found, "learned"), *objects(found, "unsure")]
    names = project_names(every, client.project_names()) if all_projects else {}
    if not every:
        click.echo(_why_none(all_projects))
        return
    more = part(found, "more")
    _print_learned(objects(found, "learned"), names)
    _print_more(whole(more, "learned"))
    _print_unsure(objects(found, "unsure"), names)
    _print_more(whole(more, "unsure"))
    if objects(found, "unsure"):
        click.echo(
            '`claude-mem-lite lessons accept ID` makes a rule of one, `lessons edit ID "TEXT"` one in other words; '
            "`lessons dismiss ID` drops it for good."
        )


@lessons.command(short_help="Keep lessons on your word.")
@click.argument("given", metavar="ID... [TEXT]", nargs=-1, required=True, shell_complete=completion_values.lessons)
@json_option
def accept(given: Sequence[str], as_json: bool) -> None:
    """Keep lessons on your word.

    An unsure one becomes a rule as you said it, or as TEXT says it. A question, and what only its conversation
    explains, needs a TEXT. One that your agent or a model worded becomes a rule to be followed, as if you had stated
    it.

    \b
    Examples:
      claude-mem-lite lessons accept m4t9w2cz7e
      claude-mem-lite lessons accept m4t9w2cz7e "Keep commits small: reviewers read them one by one"
    """
    refuse_agent("lessons accept")
    if any(len(one.split()) > 1 for one in given):
        _accept_in_other_words(given, as_json)
        return
    accepted = connect().accept_lessons(given)
    if as_json:
        print_json(accepted)
        return
    for one in objects(accepted, "lessons"):
        _print_rule(field(one, "text"), field(one, "id"))
    click.echo('`claude-mem-lite lessons edit ID "TEXT"` words one better.')


def _accept_in_other_words(given: Sequence[str], as_json: bool) -> None:
    """Accept one lesson in the words behind its id; an id has no space."""
    if len(given) != 2 or len(given[0].split()) > 1:
        raise click.UsageError("a TEXT goes with one ID, and behind it")
    id_ = connect().edit_lesson(*given)
    if as_json:
        print_json({"accepted": [id_], "lessons": [{"id": id_, "text": given[1]}]})
        return
    _print_rule(given[1], id_)


def _print_rule(words: str, id_: str) -> None:
    click.echo(f'Now a rule: "{within(one_line(words), _MAX_SENTENCE)}" ({id_})')


@lessons.command(short_help="Drop lessons, and keep them from coming back.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completion_values.lessons)
@json_option
def dismiss(ids: Sequence[str], as_json: bool) -> None:
    """Drop lessons, and keep them from coming back.

    A lesson that was learned is retired. Neither it nor a paraphrase is learned again in its project, whoever says
    it, unless you `remember` it.

    \b
    Example:
      claude-mem-lite lessons dismiss m4t9w2cz7e
    """
    refuse_agent("lessons dismiss")
    dismissed = connect().dismiss_lessons(ids)
    if as_json:
        print_json(dismissed)
        return
    for one in objects(dismissed, "lessons"):
        done = "Was dismissed already" if one.get("already") is True else "Dismissed"
        click.echo(f"{done}: {within(one_line(field(one, 'text')), _MAX_SENTENCE)}")


@lessons.command(short_help="Keep a lesson in other words.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.lessons)
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@json_option
def edit(id_: str, words: Sequence[str], as_json: bool) -> None:
    """Keep a lesson in other words.

    It is your word from then on. What you said in the prompt stays in its detail.

    \b
    Example:
      claude-mem-lite lessons edit m4t9w2cz7e "Keep commits small: reviewers read them one by one"
    """
    refuse_agent("lessons edit")
    edited = connect().edit_lesson(id_, " ".join(words))
    if as_json:
        print_json({"edited": edited})
        return
    click.echo(f"Kept as {edited}.")


def _print_learned(found: Sequence[JsonObject], names: Mapping[str, str]) -> None:
    if not found:
        return
    now = datetime.now(UTC)
    click.echo("Learned:")
    for memory in found:
        whose = users_word(field(memory, "made_by"), number(memory, "trust"))
        told = (field(memory, "kind"), whose, ago(memory.get("last_seen_at"), now), names.get(field(memory, "project")))
        click.echo(f"{head(memory)}  {_tail(told)}")
        for said in objects(memory, "said")[-_MAX_SAID:]:
            click.echo(dim(f"    {_where(said, now)}: {_sentence(said)}"))


def _print_unsure(found: Sequence[JsonObject], names: Mapping[str, str]) -> None:
    if not found:
        return
    now = datetime.now(UTC)
    click.echo("Unsure, given to nobody:")
    for one in found:
        asked = "your agent was asked" if field(one, "state") == "asked" else ""
        told = (_where(one, now), asked, names.get(field(one, "project")))
        click.echo(f"{click.style(field(one, 'id'), fg='cyan')}  {_sentence(one)}  {_tail(told)}")
        if before := one_line(field(one, "after_message")):
            click.echo(dim(f"    in answer to: {_end(before)}"))


def _print_more(left: int) -> None:
    if left:
        click.echo(f"… and {left:,} more; --limit shows more of them.")


def _why_none(all_projects: bool) -> str:
    wider = "" if all_projects else " --all-projects lists those of other folders."
    return (
        "No lesson was learned here yet. Lessons come from what you say to your agent; `claude-mem-lite import "
        'transcripts` reads old sessions, and `claude-mem-lite remember "TEXT"` keeps a rule at once.' + wider
    )


def _end(message: str) -> str:
    return message if len(message) <= _MAX_BEFORE else f"…{message[-_MAX_BEFORE:].partition(' ')[2]}"


def _tail(told: Sequence[str | None]) -> str:
    return dim(f"[{', '.join(filter(None, told))}]")


def _where(said: JsonObject, now: datetime) -> str:
    return f"said {ago(said.get('created_at'), now)} in session {field(said, 'session')}"


def _sentence(said: JsonObject) -> str:
    return within(one_line(field(said, "sentence")), _MAX_SENTENCE)
