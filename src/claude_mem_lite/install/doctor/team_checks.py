"""Check of the team: files with secrets, the address, the last failure, parked entries. Without the network unless
asked for."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.client.client import Client
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.team import TeamStatus
from claude_mem_lite.text import counted

_OTHERS = 0o077


def check_team(home: Home, client: Client, *, online: bool = False) -> Sequence[Check]:
    """Check the team, if this home has the files of one; `online` logs in to the team's database."""
    files = [path for path in (home.team_address, home.team_admin_address, home.team_key) if os.path.lexists(path)]
    if bad := [check for path in files if (check := _check_file(path))]:
        return bad
    return [_check_state(client.team_status(check=online))] if files else []


def _check_file(path: Path) -> Check | None:
    """Return the fault of a file with a secret; None without one."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return Check("team", "fail", f"{path} is not a regular file", "remove it, and run `claude-mem-lite team join`")
    if status.st_uid != os.getuid():
        return Check("team", "fail", f"{path} belongs to another user", f"run `sudo chown {os.getuid()} {path}`")
    if status.st_mode & _OTHERS:
        finding = f"{path} holds a secret and is open to others ({stat.S_IMODE(status.st_mode):o})"
        step = f"{FIX}, and ask for a new password if others have accounts here"
        return Check("team", "fail", finding, step)
    return None


def _check_state(state: TeamStatus) -> Check:
    if state.code:
        return Check("team", "warn", f"{state.code}: {state.message}", state.next_step)
    if not state.is_joined:
        return Check("team", "ok", "this home administers a team, and is a member of none")
    if state.parked:
        codes = ", ".join(sorted({parked.code for parked in state.parked}))
        finding = f"{counted(len(state.parked), 'entry is', 'entries are')} parked ({codes}), all others go on"
        return Check("team", "warn", finding, "run `claude-mem-lite team repair`")
    shared = counted(sum(project.is_shared for project in state.projects), "project")
    login = "the login works, " if state.reached else ""
    return Check("team", "ok", f"member {state.member}: {login}{shared} shared, {state.waiting_out:,} changes wait")
