"""Calls about the team: set up, membership, sharing, synchronisation, search on the team's server."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import BaseClient, query_of, quoted, read
from claude_mem_lite.models import JsonObject

# Longer than the worker's own limits for the server.
SERVER_TIMEOUT_S = 60.0
SYNC_TIMEOUT_S = 180.0


class TeamCalls(BaseClient):
    """Set-up, membership, sharing and synchronisation of the team."""

    __slots__ = ()

    def team_status(self, *, check: bool = True) -> responses.team.TeamStatus:
        """Return the state of the team; `check`: log in to the server now."""
        query = query_of(check=check)
        return read(responses.team.TeamStatus, self._get("/api/team", query, timeout_s=SERVER_TIMEOUT_S))

    def team_init(self, url: str, *, sealed: bool) -> responses.team.TeamInit:
        """Set up the database of a team."""
        body: JsonObject = {"url": url, "sealed": sealed}
        return read(responses.team.TeamInit, self._post("/api/team/init", body, timeout_s=SERVER_TIMEOUT_S))

    def team_invite(
        self, name: str, projects: Sequence[str], *, url: str, new_password: bool
    ) -> responses.team.TeamInvitation:
        """Give a member a role with grants for projects."""
        body: JsonObject = {"name": name, "projects": list(projects), "url": url, "new_password": new_password}
        return read(responses.team.TeamInvitation, self._post("/api/team/invite", body, timeout_s=SERVER_TIMEOUT_S))

    def team_revoke(self, name: str, *, url: str) -> responses.team.TeamRevoked:
        """Take all access from a member."""
        body = {"name": name, "url": url}
        return read(responses.team.TeamRevoked, self._post("/api/team/revoke", body, timeout_s=SERVER_TIMEOUT_S))

    def team_members(self, *, url: str) -> Sequence[responses.team.TeamMember]:
        """Return the members of the team, for whoever may invite."""
        answer = self._post("/api/team/members", {"url": url}, timeout_s=SERVER_TIMEOUT_S)
        return read(responses.team.TeamMembers, answer).members

    def team_join(self, url: str) -> responses.team.TeamStatus:
        """Join a team by the connection string of an invitation."""
        return read(responses.team.TeamStatus, self._post("/api/team/join", {"url": url}, timeout_s=SERVER_TIMEOUT_S))

    def team_leave(self, *, purge: bool) -> responses.team.TeamLeft:
        """Leave the team; `purge`: remove from the server what this device sent."""
        return read(responses.team.TeamLeft, self._post("/api/team/leave", {"purge": purge}, timeout_s=SYNC_TIMEOUT_S))

    def team_share(self, project: str, *, handoffs: bool) -> responses.team.TeamShared:
        """Share a project: a folder, a name or an id."""
        return read(
            responses.team.TeamShared, self._post("/api/team/share", {"project": project, "handoffs": handoffs})
        )

    def team_unshare(self, project: str) -> responses.team.TeamShared:
        """Stop sharing a project, and take back what was sent."""
        return read(responses.team.TeamShared, self._post("/api/team/unshare", {"project": project}))

    def team_preview(self, project: str = "") -> responses.team.TeamPreview:
        """Return what would leave this device, of one project or of all shared ones."""
        return read(responses.team.TeamPreview, self._get("/api/team/preview", query_of(project=project)))

    def team_sync(self) -> responses.team.TeamSynced:
        """Synchronise now."""
        return read(responses.team.TeamSynced, self._post("/api/team/sync", {}, timeout_s=SYNC_TIMEOUT_S))

    def team_repair(self) -> responses.team.TeamRepaired:
        """Try parked entries again."""
        return read(responses.team.TeamRepaired, self._post("/api/team/repair", {}, timeout_s=SYNC_TIMEOUT_S))

    def team_key(self, key: str) -> responses.team.TeamStatus:
        """Store the key of a sealed team, checked against the server."""
        return read(responses.team.TeamStatus, self._post("/api/team/key", {"key": key}, timeout_s=SERVER_TIMEOUT_S))

    def team_memory(self, memory_id: str) -> responses.team.TeamChoice:
        """Return the user's choice about one memory, and why it stays here if it does."""
        return read(responses.team.TeamChoice, self._get(f"/api/team/memories/{quoted(memory_id)}"))

    def team_choice(self, memory_id: str, choice: str) -> responses.team.TeamChoice:
        """Share one memory by hand, or keep it here."""
        return read(
            responses.team.TeamChoice, self._post(f"/api/team/memories/{quoted(memory_id)}", {"choice": choice})
        )

    def team_search(self, query: str, *, limit: int) -> responses.team.TeamHits:
        """Search the memories of all granted projects on the team's server."""
        answer = self._get("/api/team/search", query_of(q=query, limit=limit), timeout_s=SERVER_TIMEOUT_S)
        return read(responses.team.TeamHits, answer)
