"""The tools themselves: each asks the worker, which is started when it is away, and tells what it answered.

What goes wrong becomes an answer too, in one sentence with the next step: an agent that asks must never be stuck."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.client import Asker, Client, Wanted, Where
from claude_mem_lite.errors import Ambiguous, MemoryLiteError, NotFound, WorkerRefused, WorkerUnavailable
from claude_mem_lite.mcp import arguments, shown
from claude_mem_lite.mcp.protocol import Answer
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home, find_home
from claude_mem_lite.safe_text import harmless
from claude_mem_lite.worker_start import ensure_worker

START_WAIT_S = 8.0
MOST_HITS = 30
_NO_SUCH_ROUTE = "Not Found"
MOST_FORGOTTEN = 20
"""In the life of one server: an agent that was talked into it must not empty the store."""


@dataclass(frozen=True, slots=True)
class _Here:
    """A worker that answers, and where the agent stands."""

    client: Client
    asker: Asker
    project: str

    def refuse_foreign(self, record: JsonObject) -> None:
        """What holds in another project is not for this one, and what is in quarantine for no agent."""
        scope = shown.field(record, "scope") or f"project:{shown.field(record, 'project')}"
        id_ = shown.field(record, "id")[:6]
        if scope.startswith("project:") and scope != f"project:{self.project}":
            raise NotFound(f"#{id_} belongs to another project", "memory_search shows what holds here")
        if shown.field(record, "status") == "quarantined":
            raise NotFound(f"#{id_} is in quarantine", "the user can look at it with `claude-mem-lite quarantine`")


@dataclass(slots=True)
class Tools:
    """The tools of one server: one home, one folder, one agent."""

    home: Home
    environment: Mapping[str, str]
    _forgotten: int = 0
    _own_session: str = field(default_factory=lambda: f"mcp-{os.urandom(8).hex()}")
    """For an agent of which no session is known: its budgets are counted all the same."""

    def call(self, name: str, given: JsonObject) -> Answer:
        """Do what a tool is for; every failure that is known is told in a sentence."""
        tools: dict[str, Callable[[JsonObject], Answer]] = {
            "memory_context": self._context,
            "memory_search": self._search,
            "memory_timeline": self._timeline,
            "memory_get": self._get,
            "memory_save": self._save,
            "memory_forget": self._forget,
        }
        try:
            if self.home.off_switch.exists():
                raise MemoryLiteError("the memory is switched off", "the user can run `claude-mem-lite on`")
            return tools[name](given)
        except MemoryLiteError as error:
            return Answer(str(error), is_error=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            return Answer(f"the memory cannot be reached ({reason}); go on without it", is_error=True)
        except Exception as error:  # noqa: BLE001  one tool that fails must not take the others away from the agent
            return Answer(f"the memory failed with {type(error).__name__}; go on without it", is_error=True)

    def _context(self, given: JsonObject) -> Answer:
        query, scope = arguments.text(given, "query"), arguments.text(given, "scope")
        category = arguments.text(given, "category")
        here = self._reach()
        told = here.client.ask(here.asker, query=query, scope=scope, category=category)
        name = shown.field(told, "name")
        return Answer(shown.field(told, "text"), when_sent=(lambda: _confirm(here.client, name)) if name else None)

    def _search(self, given: JsonObject) -> Answer:
        query, file = arguments.text(given, "query"), arguments.text(given, "file")
        kinds, limit = arguments.kinds(given), arguments.number(given, "limit", 10, MOST_HITS)
        if not query and not file:
            raise MemoryLiteError("query is missing", "say what to look for")
        here = self._reach()
        where, wanted = Where(here.asker.cwd), Wanted(kinds=kinds, file=file or None)
        if query:
            found = here.client.search(query, where, wanted, limit=limit)
        else:
            found = here.client.memories(where, wanted, limit=limit)
        return Answer(shown.hits(found))

    def _timeline(self, given: JsonObject) -> Answer:
        (id_,) = arguments.ids({"id": arguments.needed(given, "id")}, "id")
        here = self._reach()
        here.refuse_foreign(here.client.record(id_, here.asker.cwd))
        return Answer(shown.timeline(here.client.timeline(id_)))

    def _get(self, given: JsonObject) -> Answer:
        ids = arguments.ids(given)
        here = self._reach()
        found, problems = [], []
        for id_ in ids:
            try:
                record = here.client.record(id_, here.asker.cwd)
                here.refuse_foreign(record)
                found.append(record)
            except (NotFound, Ambiguous) as error:
                problems.append(f"#{harmless(id_)}: {error.message}")
        if not found:
            raise NotFound("; ".join(problems), "memory_search shows what there is")
        return Answer(shown.records(found, problems))

    def _save(self, given: JsonObject) -> Answer:
        kind, words = arguments.needed(given, "kind").lower(), arguments.needed(given, "text")
        arguments.check_kind(kind)
        scope, tags = arguments.text(given, "scope"), arguments.texts(given, "tags")
        here = self._reach()
        return Answer(shown.saved(here.client.save(here.asker, kind, words, scope=scope, tags=tags)))

    def _forget(self, given: JsonObject) -> Answer:
        ids = arguments.ids(given)
        if self._forgotten + len(ids) > MOST_FORGOTTEN:
            raise MemoryLiteError(
                f"an agent forgets {MOST_FORGOTTEN} memories a session at most, and {self._forgotten} are gone",
                f"ask the user, who can run {_by_hand(ids)}",
            )
        here = self._reach()
        told = here.client.forget_for(here.asker, ids)
        self._forgotten += len(shown.objects(told, "forgotten"))
        return Answer(shown.forgotten(told))

    def _reach(self) -> _Here:
        """A worker that answers, started when none did, and where the agent stands by what it says."""
        asker = Asker(self._folder(), self.environment.get("CLAUDE_CODE_SESSION_ID", ""))
        client = Client(self.home)
        try:
            told = client.where_it_stands(asker)
        except WorkerUnavailable:
            client = ensure_worker(self.home, START_WAIT_S)
            told = client.where_it_stands(asker)
        except WorkerRefused as error:
            if error.message != _NO_SUCH_ROUTE:
                raise
            raise WorkerRefused(
                "the worker is of an older version", "run `claude-mem-lite worker stop`, then call this again"
            ) from error
        session = shown.field(told, "session") or self._own_session
        return _Here(client, Asker(asker.cwd, session), shown.field(told, "project"))

    def _folder(self) -> str:
        return self.environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()


def tools_of_this_process() -> Tools:
    return Tools(find_home(), os.environ)


def _confirm(client: Client, name: str) -> None:
    """Tell the worker that its answer was told. When it cannot be, the answer does not count."""
    try:
        client.sent(name)
    except (WorkerUnavailable, WorkerRefused):
        return


def _by_hand(ids: Sequence[str]) -> str:
    return f"`claude-mem-lite forget {' '.join(harmless(id_) for id_ in ids)}`"
