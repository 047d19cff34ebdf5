"""Tools that are neither a shell nor an editor: sub-agents, the web, lists, questions, plans, foreign tools."""

from claude_mem_lite.models import JsonObject
from tests.cases.case import Case, bash, edit, read, subagent_stop, tool, tool_failed, write

REPORT = """I looked through the payment code.

The webhook handler in `shop/webhooks.py` acknowledges an event before it is stored, so a crash in between loses it.
Retries are sent by the provider only when the answer is not 2xx.

- `handle_event` (line 40) answers first and writes later
- there is no table of seen event ids, so a repeated event is booked twice
"""
PAGE = """SQLite allows one writer at a time. In WAL mode readers do not block the writer and the writer does not block
readers. The default busy timeout is 0 ms, so a second writer gets SQLITE_BUSY at once unless sqlite3_busy_timeout()
is set. A checkpoint runs by default when the log reaches 1000 pages."""
SEARCH: JsonObject = {
    "query": "stripe webhook retry schedule",
    "results": [
        {
            "tool_use_id": "srvtoolu_01",
            "content": [
                {"title": "Receive events in your webhook endpoint", "url": "https://docs.example.com/webhooks"},
                {"title": "Webhook retries explained", "url": "https://blog.example.org/retries"},
            ],
        },
        "In live mode events are tried again for up to 3 days with growing pauses between the tries. In a sandbox "
        "they are tried three times over a few hours. An endpoint that fails for days is switched off, and its owner "
        "is told by mail.",
    ],
    "durationSeconds": 4.2,
}
MCP_ISSUE: JsonObject = {"title": "Refunds are booked twice", "body": "Steps: …", "repo": "shop", "owner": "acme"}


def _agent(task: str, answer: str) -> JsonObject:
    given = {"description": task, "prompt": f"{task}. Report back.", "subagent_type": "general-purpose"}
    return tool(
        "Agent",
        given,
        {"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": answer}], "totalTokens": 7762},
    )


CASES = (
    Case(
        "a sub-agent reports",
        "Could we lose payments?",
        [_agent("Look for lost webhooks", REPORT)],
        "Yes, in one place: the webhook handler in `shop/webhooks.py` acknowledges an event before it is stored, and "
        "there is no table of seen event ids. `handle_event` answers first.",
        facts=(
            "shop/webhooks.py",
            "acknowledges an event before it is stored",
            "handle_event",
            "there is no table of seen event ids",
        ),
    ),
    Case(
        "a background agent reports when it stops",
        "Look into lost payments in the background",
        [
            tool(
                "Agent",
                {"description": "Look for lost webhooks", "prompt": "…", "subagent_type": "general-purpose"},
                {"isAsync": True, "status": "async_launched", "agentId": "a449f0aab0b965555", "outputFile": "/tmp/x"},
            ),
            subagent_stop(REPORT),
        ],
        "The handler in shop/webhooks.py acknowledges an event before it is stored, and there is no table of seen event "
        "ids.",
        facts=("shop/webhooks.py", "acknowledges an event before it is stored", "no table of seen event ids"),
    ),
    Case(
        "a page is read",
        "What happens when two processes write to SQLite?",
        [
            tool(
                "WebFetch",
                {"url": "https://www.sqlite.example/wal.html", "prompt": "How do two writers behave in WAL mode?"},
                {
                    "bytes": 40211,
                    "code": 200,
                    "codeText": "OK",
                    "result": PAGE,
                    "url": "https://www.sqlite.example/wal.html",
                },
            )
        ],
        "The second writer gets SQLITE_BUSY unless a busy timeout is set: https://www.sqlite.example/wal.html says that "
        "the default busy timeout is 0 ms.",
        facts=("https://www.sqlite.example/wal.html", "SQLITE_BUSY", "busy timeout is 0 ms"),
    ),
    Case(
        "the web is searched",
        "How long does the provider retry webhooks?",
        [tool("WebSearch", {"query": "stripe webhook retry schedule"}, SEARCH)],
        "For up to 3 days with growing pauses in live mode, says https://docs.example.com/webhooks.",
        facts=("up to 3 days with growing pauses", "https://docs.example.com/webhooks"),
    ),
    Case(
        "a to-do list is left open",
        "Migrate the billing to the new API, step by step",
        [
            tool(
                "TodoWrite",
                {"todos": [{"content": "Move the customers", "status": "in_progress", "activeForm": "Moving"}]},
                {"oldTodos": [], "newTodos": []},
            ),
            edit("billing/customers.py", "def fetch():\n    return old_api()\n", "old_api()", "new_api()"),
            tool(
                "TodoWrite",
                {
                    "todos": [
                        {"content": "Move the customers", "status": "completed", "activeForm": "Moving"},
                        {"content": "Move the invoices", "status": "in_progress", "activeForm": "Moving"},
                        {"content": "Switch off the old API", "status": "pending", "activeForm": "Switching"},
                    ]
                },
                {"oldTodos": [], "newTodos": []},
            ),
        ],
        "Customers are moved.",
        facts=("billing/customers.py", "fetch modified"),
        summary_facts=("Move the invoices", "Switch off the old API"),
    ),
    Case(
        "a task list is kept entry by entry",
        "Rework the exports",
        [
            tool(
                "TaskCreate",
                {"subject": "Stream the CSV", "description": "no lists in memory", "activeForm": "Streaming"},
                {"task": {"id": "1", "subject": "Stream the CSV", "description": "no lists in memory"}},
            ),
            tool(
                "TaskCreate",
                {"subject": "Add a progress bar", "description": "for big exports"},
                {"task": {"id": "2", "subject": "Add a progress bar", "description": "for big exports"}},
            ),
            tool(
                "TaskUpdate",
                {"taskId": "1", "status": "completed"},
                {
                    "success": True,
                    "taskId": "1",
                    "updatedFields": ["status"],
                    "statusChange": {"from": "in_progress", "to": "completed"},
                },
            ),
            tool(
                "TaskUpdate",
                {"taskId": "9", "status": "completed"},
                {"success": False, "taskId": "9", "updatedFields": [], "error": "Task not found"},
            ),
            write("shop/export.py", "def stream(rows):\n    yield from rows\n"),
        ],
        "The export streams.",
        facts=("shop/export.py", "stream new"),
        summary_facts=("Add a progress bar",),
    ),
    Case(
        "a task list is looked at",
        "where are we?",
        [
            tool(
                "TaskList",
                {},
                {
                    "tasks": [
                        {"id": "1", "subject": "Stream the CSV", "status": "completed", "blockedBy": []},
                        {"id": "2", "subject": "Add a progress bar", "status": "pending", "blockedBy": []},
                    ]
                },
            )
        ],
        "One task is left.",
        summary_facts=("Add a progress bar",),
        memories=0,
    ),
    Case(
        "the user is asked and chooses",
        "Where shall carts live?",
        [
            tool(
                "AskUserQuestion",
                {
                    "questions": [
                        {
                            "question": "Which store should carts use?",
                            "header": "Store",
                            "options": [
                                {"label": "Redis", "description": "fast, lost on restart"},
                                {"label": "Postgres (Recommended)", "description": "durable"},
                            ],
                            "multiSelect": False,
                        }
                    ]
                },
                {"questions": [], "answers": {"Which store should carts use?": "Postgres (Recommended)"}},
            )
        ],
        facts=("Which store should carts use", "Postgres"),
    ),
    Case(
        "a plan is agreed on",
        "Plan the move to the new tax service",
        [
            read("shop/tax.py", "def tax(order):\n    return order.net * 19 // 100\n"),
            tool(
                "ExitPlanMode",
                {},
                {
                    "plan": "# Move tax to the new service\n\nWe call the service at checkout and keep the old rate as a "
                    "fallback.\n\n1. Add a client in `shop/tax_client.py`\n2. Fall back to 19 % after 300 ms\n"
                    "3. Remove `tax` when a week passed without fallbacks\n",
                    "isAgent": False,
                    "filePath": "/home/dev/.claude/plans/quiet-river.md",
                },
            ),
        ],
        facts=("Move tax to the new service", "shop/tax_client.py", "Fall back to 19 % after 300 ms"),
    ),
    Case(
        "a foreign tool only reads",
        "show me issue 12",
        [
            tool(
                "mcp__github__get_issue",
                {"owner": "acme", "repo": "shop", "issue_number": 12},
                [{"type": "text", "text": '{"number": 12, "title": "Refunds are booked twice"}'}],
                mcp_server={"name": "github", "source": "project"},
            )
        ],
        "Here it is.",
        memories=0,
    ),
    Case(
        "a foreign tool changes something",
        "File an issue about the double refunds",
        [
            tool(
                "mcp__github__create_issue",
                MCP_ISSUE,
                [{"type": "text", "text": '{"number": 207, "html_url": "https://github.com/acme/shop/issues/207"}'}],
                mcp_server={"name": "github", "source": "project"},
            )
        ],
        "Filed on github as https://github.com/acme/shop/issues/207: Refunds are booked twice.",
        facts=("Refunds are booked twice", "https://github.com/acme/shop/issues/207", "github"),
    ),
    Case(
        "a foreign tool fails",
        "query the warehouse",
        [
            tool_failed(
                "mcp__warehouse__run_query",
                {"sql": "select * from sales_2026"},
                'MCP error -32603: relation "sales_2026" does not exist',
                mcp_server={"name": "warehouse", "source": "user"},
            )
        ],
        'The warehouse refuses the query: relation "sales_2026" does not exist.',
        facts=('relation "sales_2026" does not exist', "warehouse"),
    ),
    Case(
        "a tool nobody knows fails",
        "render the diagram",
        [tool_failed("RenderDiagram", {"name": "flow"}, "Error: layout engine exited: unknown node shape 'hexagn'")],
        "The diagram is not rendered: unknown node shape 'hexagn'.",
        facts=("unknown node shape 'hexagn'",),
    ),
    Case(
        "a skill is loaded and its work is kept",
        "/changelog for 1.8.0",
        [
            tool("Skill", {"skill": "changelog", "args": "1.8.0"}, {"success": True, "commandName": "changelog"}),
            write("CHANGELOG.md", "# Changelog\n\n## 1.8.0\n\n- refunds need a reason\n"),
        ],
        "Wrote the changelog of 1.8.0.",
        facts=("CHANGELOG.md", "1.8.0"),
    ),
    Case(
        "an image is read",
        "what is on the screenshot?",
        [
            tool(
                "Read",
                {"file_path": "/home/dev/shop/shot.png"},
                {"type": "image", "file": {"base64": "iVBORw0KGgo" + "A1b2C3d4" * 4_000, "type": "image/png"}},
            ),
            bash("file shot.png", "shot.png: PNG image data, 1280 x 720, 8-bit/color RGBA, non-interlaced\n"),
        ],
        "A login form.",
        never=("iVBORw0KGgo", "A1b2C3d4A1b2"),
        memories=0,
    ),
)
