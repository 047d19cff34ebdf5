"""Pages of the team: state, projects, authors and parked entries; the preview of what would be sent; their actions.

Connection strings and keys are never typed on a page: joining, inviting and the key stay commands."""

import json
from collections.abc import Mapping, Sequence

from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.responses.team import TeamMember, TeamStatus
from claude_mem_lite.text import counted
from claude_mem_lite.ui.templating import Action, Asked, View, id_of, render

_MAX_LISTED = 200
_GONE = "What was sent is taken back, and what was received is removed here."


def team(asked: Asked) -> str:
    """Return the page of the team, with a login to the team's database."""
    state = asked.client.team_status()
    members, trouble = _members(asked, state)
    return render("team.html", state=state, members=members, members_trouble=trouble)


def _members(asked: Asked, state: TeamStatus) -> tuple[Sequence[TeamMember], str]:
    """Return the members, or why they cannot be listed; neither on a machine that does not run the team.

    The worker reads the administrator's connection string from its file: it never reaches the browser."""
    if not (state.reached and asked.client.home.team_admin_address.exists()):
        return (), ""
    try:
        return asked.client.team_members(url=""), ""
    except MemoryLiteError as error:
        return (), f"{error.message}: {error.next_step}".removesuffix(": ")


def team_preview(asked: Asked) -> str:
    """Return the page with everything that would be sent: of all shared projects, or of one, shared or not."""
    project = asked.chosen("project")
    state = asked.client.team_status(check=False)
    names = asked.client.project_names()
    if not state.is_joined:
        return render("team.html", state=state, members=(), members_trouble="")
    found = asked.client.team_preview(project)
    listed = [View(memory, lines=_lines(memory.body)) for memory in found.memories[:_MAX_LISTED]]
    return render(
        "team_preview.html",
        memories=listed,
        sent=sum(memory.is_sent for memory in found.memories),
        total=len(found.memories) + found.more,
        held_back=found.held_back,
        project=project,
        names=names,
        shared=[known for known in state.projects if known.is_shared],
    )


def _lines(body: str) -> str:
    """Return a body as it is sent, one field a line; a body that is no JSON as it is."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False, indent=2)
    except ValueError:
        return body


def _sync(client: Client, _: JsonObject) -> JsonObject:
    done = client.team_sync()
    if done.code:
        raise MemoryLiteError(f"{done.code}: {done.message}", done.next_step)
    return {"message": f"Sent {done.pushed:,} and received {done.pulled:,}."}


def _repair(client: Client, _: JsonObject) -> JsonObject:
    done = client.team_repair()
    again = f"Sending {done.requeued:,} again, applied {done.applied:,}"
    return {"message": f"{again}; {counted(done.still_parked, 'entry is', 'entries are')} still parked."}


def _share(client: Client, given: JsonObject) -> JsonObject:
    shared = client.team_share(_project_of(given), handoffs=bool(given.get("handoffs")))
    considered = counted(shared.marked, "memory is", "memories are")
    return {"message": f"{shared.name} is shared with the team: {considered} considered."}


def _unshare(client: Client, given: JsonObject) -> JsonObject:
    shared = client.team_unshare(_project_of(given))
    return {"message": f"{shared.name} is not shared any more. {_GONE}"}


def _share_memory(client: Client, given: JsonObject) -> JsonObject:
    chosen = client.team_choice(id_of(given), "share")
    if chosen.reason:
        raise MemoryLiteError(f"it stays here: {chosen.reason}")
    return {"message": "It goes to the team."}


def _keep_memory(client: Client, given: JsonObject) -> JsonObject:
    client.team_choice(id_of(given), "keep")
    return {"message": "It stays here, and is taken back if it was sent."}


def _project_of(given: JsonObject) -> str:
    if not (project := text(given.get("project")).strip()):
        raise MemoryLiteError("it was not said which project", "load the page again")
    return project


TEAM_ACTIONS: Mapping[str, Action] = {
    "sync_team": _sync,
    "repair_team": _repair,
    "share_project": _share,
    "unshare_project": _unshare,
    "share_memory": _share_memory,
    "keep_memory": _keep_memory,
}
