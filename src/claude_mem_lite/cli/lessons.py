"""Command `lessons`: learned lessons, unsure candidates, and the user's verdicts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.groups import HelpfulGroup
from claude_mem_lite.cli.options import (
    all_projects_option,
    connect,
    connect_to_read,
    folder,
    json_option,
    limit_option,
    refuse_agent,
)
from claude_mem_lite.cli.output import dim, plain, print_json
from claude_mem_lite.cli.records import head, project_names
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.queries import Where
from claude_mem_lite.models import JsonObject, user_origin_label
from claude_mem_lite.responses.lessons import LearnedLesson, LessonCandidate
from claude_mem_lite.text import one_line, within

_MAX_SENTENCE = 300
_MAX_SAID = 3
_MAX_BEFORE = 120
_NOTHING: JsonObject = {"learned": [], "unsure": [], "more": {"learned": 0, "unsure": 0}}


@click.group(
    cls=HelpfulGroup, short_help="See, accept, dismiss or edit lessons from your prompts.", invoke_without_command=True
)
@all_projects_option
@limit_option(50)
@json_option
@click.pass_context
def lessons(ctx: click.Context, all_projects: bool, limit: int, as_json: bool) -> None:
    """See, accept, dismiss or edit lessons from your prompts.

    A lesson is a sentence of a prompt that holds beyond its task: a correction, a preference, a rule, a fact. Sure
    lessons are kept at once. Unsure lessons wait, and no session gets them, until you repeat them in another session,
    your agent or a model judges them, or you decide with these commands. Without a command, lists both for the project
    of the current folder, with time and session.

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

    Lists learned lessons, then unsure lessons, newest first. Reads only.

    \b
    Example:
      claude-mem-lite lessons list --all-projects
    """
    _list(all_projects, limit, as_json)


def _list(all_projects: bool, limit: int, as_json: bool) -> None:
    client = connect_to_read(_NOTHING, as_json=as_json)
    found = client.lessons(Where(folder(), all_projects=all_projects), limit=limit)
    if as_json:
        print_json(found.raw)
        return
    if not found.learned and not found.unsure:
        click.echo(_why_none(all_projects))
        return
    names = project_names([*found.learned, *found.unsure], client.project_names()) if all_projects else {}
    _print_learned(found.learned, names)
    _print_more(found.more.learned)
    _print_unsure(found.unsure, names)
    _print_more(found.more.unsure)
    if found.unsure:
        click.echo(
            '`claude-mem-lite lessons accept ID` makes a rule of one, `lessons edit ID "TEXT"` one in other words; '
            "`lessons dismiss ID` drops it for good."
        )


@lessons.command(short_help="Accept lessons as rules of yours.")
@click.argument("given", metavar="ID... [TEXT]", nargs=-1, required=True, shell_complete=completion_values.lessons)
@json_option
def accept(given: Sequence[str], as_json: bool) -> None:
    """Accept lessons as rules of yours.

    An unsure lesson becomes a rule as you said it, or in the words of TEXT. TEXT is required for a question, and for a
    sentence that makes no sense without its conversation. A lesson in words of your agent or a model becomes a rule, as
    if you had stated it.

    \b
    Examples:
      claude-mem-lite lessons accept m4t9w2cz7e
      claude-mem-lite lessons accept m4t9w2cz7e "Keep commits small: reviewers read them one by one"
    """
    refuse_agent("lessons accept")
    if any(len(word.split()) > 1 for word in given):
        _accept_in_other_words(given, as_json)
        return
    accepted = connect().accept_lessons(given)
    if as_json:
        print_json(accepted.raw)
        return
    for lesson in accepted.lessons:
        _print_rule(plain(lesson.text), plain(lesson.id))
    click.echo('`claude-mem-lite lessons edit ID "TEXT"` words one better.')


def _accept_in_other_words(given: Sequence[str], as_json: bool) -> None:
    """Accept a lesson in the words behind its id; an id contains no space."""
    if len(given) != 2 or len(given[0].split()) > 1:
        raise click.UsageError("give TEXT after exactly one ID")
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

    A learned lesson is retired. Neither the lesson nor a paraphrase is learned again in its project, unless you
    `remember` it.

    \b
    Example:
      claude-mem-lite lessons dismiss m4t9w2cz7e
    """
    refuse_agent("lessons dismiss")
    dismissed = connect().dismiss_lessons(ids)
    if as_json:
        print_json(dismissed.raw)
        return
    for lesson in dismissed.lessons:
        done = "Was dismissed already" if lesson.already else "Dismissed"
        click.echo(f"{done}: {within(one_line(plain(lesson.text)), _MAX_SENTENCE)}")


@lessons.command(short_help="Accept a lesson in other words.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.lessons)
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@json_option
def edit(id_: str, words: Sequence[str], as_json: bool) -> None:
    """Accept a lesson in other words.

    The lesson counts as your own statement. The sentence of the prompt stays in its detail.

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


def _print_learned(learned: Sequence[LearnedLesson], names: Mapping[str, str]) -> None:
    if not learned:
        return
    now = datetime.now(UTC)
    click.echo("Learned:")
    for lesson in learned:
        author, project = user_origin_label(lesson.made_by, lesson.trust), names.get(plain(lesson.project))
        details = (plain(lesson.kind), author, ago(lesson.last_seen_at, now), project)
        click.echo(f"{head(lesson)}  {_tail(details)}")
        for sentence in lesson.said[-_MAX_SAID:]:
            click.echo(dim(f"    {_said(sentence, now)}: {_sentence(sentence)}"))


def _print_unsure(candidates: Sequence[LessonCandidate], names: Mapping[str, str]) -> None:
    if not candidates:
        return
    now = datetime.now(UTC)
    click.echo("Unsure, not given to any session:")
    for candidate in candidates:
        asked = "your agent was asked" if candidate.state == "asked" else ""
        details = (_said(candidate, now), asked, names.get(plain(candidate.project)))
        click.echo(f"{click.style(plain(candidate.id), fg='cyan')}  {_sentence(candidate)}  {_tail(details)}")
        if before := one_line(plain(candidate.after_message)):
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


def _tail(details: Sequence[str | None]) -> str:
    return dim(f"[{', '.join(filter(None, details))}]")


def _said(candidate: LessonCandidate, now: datetime) -> str:
    return f"said {ago(candidate.created_at, now)} in session {plain(candidate.session)}"


def _sentence(candidate: LessonCandidate) -> str:
    return within(one_line(plain(candidate.sentence)), _MAX_SENTENCE)
