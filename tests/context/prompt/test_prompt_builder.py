"""A prompt and a store -> what is given, or why nothing is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.checkout_view import NoCheckout
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context.layers.sessions import MAX_OPEN_SESSIONS
from claude_mem_lite.context.prompt import scoring
from claude_mem_lite.context.prompt.builder import MAX_ITEMS, PromptContext, build_for_prompt
from claude_mem_lite.context.prompt.keywords import defaults, read
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import MAX_FACTOR
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.models import Memory, Receipt, ReceiptItem, SessionSummary
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.store import memory_links, receipts, sessions
from tests.docs.pages import page
from tests.support.arithmetic import equation
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

QUESTION = "Which database did we choose for billing, and why?"
DECIDED = "Decided to keep invoices in PostgreSQL because SQLite locked under concurrent webhooks."
LOW = 1.0
"""A floor for tests of what is told beside others."""
OTHERS = (
    ("gotcha", "Mock the clock in invoice tests", "Due dates differ around midnight unless the clock is fixed."),
    ("preference", "Use pnpm, not npm", "The user wants pnpm for all JavaScript packages."),
    (
        "change",
        "SymbolRename Customer to Account",
        "The model and the table were renamed; the API still says customer.",
    ),
    ("feature", "Add CSV export of invoices", "ExportController streams invoices with a semicolon for German Excel."),
)


@dataclass
class Project:
    """A store with a few memories of one project, and what a prompt there is given."""

    store: Store
    search: Search = field(default_factory=lambda: Search(StaticTable(), VectorIndex()))

    def remember(self, kind: str, title: str, summary: str, **more: object) -> Memory:
        return self.store.remember(title, turn=title, kind=kind, summary=summary, **{"session": f"s {title}", **more})  # type: ignore[arg-type]

    def decide(self, summary: str = DECIDED, **more: object) -> Memory:
        return self.remember("decision", "Use PostgreSQL for the billing service", summary, **more)

    def ask(
        self,
        prompt: str = QUESTION,
        request: ContextRequest | None = None,
        already_given: tuple[str, ...] = (),
        budget: int = 2_000,
        search: Search | None = None,
        floor: float = scoring.FLOOR,
    ) -> PromptContext:
        indexing = Indexing(self.store.db, StaticTable())
        indexing.begin()
        while indexing.step():
            pass
        weigh = (search or self.search).score_memories
        at = request or ContextRequest(SHOP, NOW)
        return build_for_prompt(self.store.db, prompt, at, already_given, budget, defaults(), weigh, floor)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Store(tmp_path / "memory.db") as store:
        made = Project(store)
        for kind, title, summary in OTHERS:
            made.remember(kind, title, summary)
        yield made


def why(context: PromptContext, memory: Memory) -> str:
    return next(one.left_out for one in context.candidates if one.memory.id == memory.id)


def part(context: PromptContext, memory: Memory, name: str) -> float:
    """One part of the score of a candidate, or its total."""
    found = next(one for one in context.candidates if one.memory.id == memory.id)
    assert found.score is not None
    return found.score.total if name == "total" else found.score.parts()[name]


def test_an_old_decision_is_given_for_a_question_about_it(project: Project) -> None:
    decision = project.decide()
    given = project.ask()
    assert [item.source for item in given.items] == [decision.id]
    assert "SQLite locked" in given.text
    assert "(1 item, for reference)" in given.text
    assert given.items[0].layer == "decision"
    assert given.tokens == estimate_tokens(given.text) <= 2_000
    assert not given.why_silent


@pytest.mark.parametrize(
    "prompt", ["continue", "fix the typo in the footer", "center the login button", "what's the weather like in Rome?"]
)
def test_a_prompt_about_something_else_is_given_nothing(project: Project, prompt: str) -> None:
    project.decide()
    given = project.ask(prompt)
    assert (given.text, given.items, given.tokens) == ("", (), 0)
    assert given.why_silent


def test_nothing_is_given_twice(project: Project) -> None:
    decision = project.decide()
    given = project.ask(already_given=(decision.id,))
    assert not given.text
    assert why(given, decision) == "given in this session before"


def test_a_session_is_not_told_its_own_work(project: Project) -> None:
    decision = project.decide(session="now")
    assert not project.ask(request=ContextRequest(SHOP, NOW, session="now")).text
    assert project.ask(request=ContextRequest(SHOP, NOW, session="later")).items[0].source == decision.id


@pytest.mark.parametrize("origin", ["web", "mcp"])
def test_foreign_words_are_not_given(project: Project, origin: str) -> None:
    decision = project.decide(origin=origin)
    given = project.ask()
    assert not given.text
    assert why(given, decision) == f"not trusted: it comes from {origin}"


@pytest.mark.parametrize("status", ["superseded", "retired", "quarantined"])
def test_what_does_not_hold_any_more_is_no_candidate(project: Project, status: str) -> None:
    decision = project.decide(status=status)
    given = project.ask()
    assert decision.id not in {one.memory.id for one in given.candidates}
    assert not given.text


def test_another_project_is_not_heard_of(project: Project) -> None:
    project.decide(place=replace(SHOP, project="example.org/me/other"))
    assert not project.ask().text


def test_another_language_is_left_out(project: Project) -> None:
    decision = project.decide(scope="language:cobol")
    given = project.ask()
    assert not given.text
    assert why(given, decision) == "it does not hold here"


def test_goals_are_given_when_they_are_spoken_of(project: Project) -> None:
    goal = project.remember("goal", "Billing in PostgreSQL by June", "All invoices are to be in PostgreSQL by June.")
    silent = project.ask("move the billing invoices to PostgreSQL")
    assert why(silent, goal).startswith("a goal")
    spoken = project.ask("what is our goal for the billing invoices in PostgreSQL?")
    assert [item.source for item in spoken.items] == [goal.id]


def test_stale_code_is_marked_and_gone_code_is_left_out(project: Project) -> None:
    @dataclass(frozen=True, slots=True)
    class Seen(NoCheckout):
        verdict: str = "changed"

        def freshness(self, memories):  # type: ignore[no-untyped-def]
            return {memory.id: Freshness(self.verdict, ("billing.py changed",)) for memory in memories}  # type: ignore[arg-type]

    decision = project.decide()
    assert "[may be stale]" in project.ask(request=ContextRequest(SHOP, NOW, checkout=Seen())).text
    gone = project.ask(request=ContextRequest(SHOP, NOW, checkout=Seen("gone")))
    assert not gone.text
    assert why(gone, decision).startswith("gone")


def test_both_sides_of_a_contradiction_are_told(project: Project) -> None:
    decision = project.decide()
    other = project.remember("decision", "Keep invoices in SQLite", "One file is enough for a single machine.")
    with atomic(project.store.db):
        memory_links.note_conflict(project.store.db, decision.id, other.id, NOW)
    given = project.ask(floor=LOW)
    assert {item.source for item in given.items} == {decision.id, other.id}
    assert f"conflicts with #{other.id}" in given.text
    assert f"{decision.last_seen_at:%Y-%m-%d}" in given.text


@pytest.mark.parametrize("is_alike", [True, False], ids=["weighed and low", "not weighed"])
def test_what_is_told_only_beside_its_opposite_is_explained_as_such(project: Project, is_alike: bool) -> None:
    decision = project.decide()
    title = "Billing webhooks" if is_alike else "Сумма"
    other = project.remember("note", title, title, last_seen_at=NOW - timedelta(days=900))
    with atomic(project.store.db):
        memory_links.note_conflict(project.store.db, decision.id, other.id, NOW)
    given = project.ask(request=ContextRequest(SHOP, NOW, explained=True), floor=LOW)
    assert {item.source for item in given.items} == {decision.id, other.id}
    (found,) = (one for one in given.candidates if one.memory.id == other.id)
    assert found.left_out == ""
    assert found.explained()[-1] == "no floor: it contradicts another that is given"


def test_what_finds_no_room_is_explained_as_out(project: Project) -> None:
    for number in range(3):
        summary = f"Billing database PostgreSQL, part {number}: invoices moved, webhooks locked SQLite {number}."
        project.remember("decision", f"Choose PostgreSQL for billing part {number}", summary, session="one")
    given = project.ask(budget=75)
    ids = {item.source for item in given.items}
    assert 0 < len(ids) < 3
    assert {one.memory.id for one in given.candidates if not one.left_out} == ids
    assert "no room" in {one.left_out for one in given.candidates}


def test_what_was_of_use_for_prompts_scores_higher(project: Project) -> None:
    decision = project.decide(last_seen_at=NOW - timedelta(days=9))
    for number in range(8):
        item = ReceiptItem(decision.id, "decision", "", 10, 1.0)
        at = NOW - timedelta(days=8) + timedelta(hours=number)
        receipt = Receipt(f"r{number}", f"x{number}", SHOP.project, "prompt", (item,), (), (), 10, 10, 1.0, at, at)
        with atomic(project.store.db):
            receipts.add(project.store.db, receipt)
            giving = receipts.items_of(project.store.db, f"x{number}")
            receipts.mark(project.store.db, dict.fromkeys(giving, "used"))
    assert part(project.ask(), decision, "use") == MAX_FACTOR


def test_room_is_kept_to_and_no_room_is_no_word(project: Project) -> None:
    project.decide("Decided to keep invoices in PostgreSQL, since the billing locked. " * 12)
    short = project.ask(budget=90)
    assert 0 < short.tokens <= 90
    assert "claude-mem-lite show" in short.text
    none = project.ask(budget=0)
    assert (none.text, none.why_silent) == ("", "the budget of the session is used up")
    assert project.ask(budget=10).why_silent == "no item fits into 10 tokens (prompt_budget_tokens)"


def test_at_most_a_few_are_given(project: Project) -> None:
    for number in range(8):
        summary = f"Billing database PostgreSQL, part {number}: invoices moved, webhooks locked SQLite {number}."
        project.remember("decision", f"Choose PostgreSQL for billing part {number}", summary, session="one")
    assert len(project.ask().items) == MAX_ITEMS


def test_without_meaning_words_have_to_do(project: Project) -> None:
    decision = project.decide()
    deaf = Search(FakeEmbedder(is_broken=True), VectorIndex())
    asked = "keep billing invoices in PostgreSQL or SQLite under concurrent webhooks?"
    assert [item.source for item in project.ask(asked, search=deaf).items] == [decision.id]
    assert not project.ask("center the login button", search=deaf).text


def test_a_question_in_chinese_finds_what_was_said_in_chinese(project: Project) -> None:
    rule = project.remember(
        "rule", "发票数据库使用 PostgreSQL", "发票数据库使用 PostgreSQL，因为 SQLite 在并发时会锁住。"
    )
    assert [item.source for item in project.ask("发票数据库为什么使用 PostgreSQL？").items] == [rule.id]
    assert not project.ask("请再解释一遍").text


def test_the_same_branch_and_the_rest_of_a_session_speak_for_a_memory() -> None:
    alone = scoring.PromptScore(1.0, 1.0, scoring.Match(1.0, 0.9), support=0.0, branch=1.0, files=1.0, use=1.0)
    assert replace(alone, support=1.0).total > alone.total
    assert replace(alone, branch=1.25).total > alone.total
    assert replace(alone, files=16.0).total > alone.total
    assert replace(alone, weight=0.5).total < alone.total
    assert replace(alone, recency=0.5).total < alone.total
    assert scoring.supports([("a", 1.0), ("a", 2.0), ("a", 0.5), ("b", 4.0), ("", 3.0), ("", 2.0)]) == {
        "a": 0.5 + 0.125,
        "b": 0.0,
    }


def test_work_on_the_same_branch_comes_first(project: Project) -> None:
    for branch in ("feature", "main", "other"):
        project.remember("decision", f"Use PostgreSQL for billing ({branch})", DECIDED, branch=branch)
    given = project.ask()
    found = [one.memory for one in given.candidates if one.memory.branch]
    branches = {memory.branch: part(given, memory, "branch") for memory in found}
    assert branches.pop(SHOP.branch) > 1.0
    assert set(branches.values()) == {1.0}
    assert project.ask().candidates[0].memory.branch == SHOP.branch


@pytest.mark.parametrize(
    ("at_work", "prompt", "factor"),
    [
        (("src/billing.py",), "", 16.0),
        ((), "look at Billing.py", 8.0),
        (("src/billing.py",), "billing.py", 16.0),
        (("billing.py",), "cart.py", 1.0),
        ((), "@src/billing.py, please", 8.0),
        ((), "see ./src/billing.py.", 8.0),
        ((), "see /home/dev/shop/src/billing.py:12", 8.0),
        ((), "see old/billing.py", 1.0),
        ((), "see /src/old/billing.py", 1.0),
        ((), "see shop/src/billing.py", 1.0),
    ],
)
def test_the_same_file_speaks_for_a_memory(
    project: Project, at_work: tuple[str, ...], prompt: str, factor: float
) -> None:
    decision = project.decide(files=("src/billing.py",))
    named = scoring.named_files(read(prompt, {}).named_files, decision.files)
    assert scoring.files_of(decision, frozenset(at_work), named) == factor


@pytest.mark.parametrize(
    ("files", "prompt", "factor"),
    [
        (("a/mod.rs",), "see mod.rs", 2.0),
        (("a/mod.rs",), "see a/mod.rs", 8.0),
        (("a/mod.rs", "b/x.rs", "b/y.rs", "b/z.rs"), "see a/mod.rs", 4.0),
        (("a/mod.rs", "b/x.rs"), "see a/mod.rs and x.rs", 8.0),
    ],
)
def test_a_bare_name_of_many_files_and_one_file_of_many_say_less(
    project: Project, files: tuple[str, ...], prompt: str, factor: float
) -> None:
    decision = project.decide(files=files)
    known = ("a/mod.rs", "b/mod.rs", "c/mod.rs", "d/mod.rs", "a/mod.rs", "b/x.rs")
    named = scoring.named_files(read(prompt, {}).named_files, known)
    assert scoring.files_of(decision, frozenset(), named) == factor


def test_a_file_that_the_session_is_at_work_on_or_the_prompt_names_is_found(project: Project) -> None:
    decision = project.decide(files=("src/billing.py",))
    assert part(project.ask("PostgreSQL for billing"), decision, "files") == 1.0
    assert part(project.ask("PostgreSQL for billing, see src/Billing.py."), decision, "files") == 8.0
    project.store.turn("k", "look at billing", "done", session="now", at=NOW)
    with atomic(project.store.db):
        sessions.set_summary(project.store.db, "now", SessionSummary(files_edited=("src/billing.py",)), NOW)
    given = project.ask("PostgreSQL for billing", request=ContextRequest(SHOP, NOW, session="now"))
    assert part(given, decision, "files") == 16.0


def test_only_what_is_a_sessions_own_speaks_for_the_rest_of_it(project: Project) -> None:
    def support(origin: str) -> float:
        session = f"s of {origin}"
        decision = project.remember("decision", f"Use PostgreSQL for billing beside {origin}", DECIDED, session=session)
        title = f"The database that was chosen for billing, says {origin}"
        project.remember("discovery", title, "PostgreSQL for billing.", session=session, origin=origin)
        return part(project.ask(), decision, "support")

    assert support("assistant") > 0.0
    assert (support("web"), support("mcp")) == (0.0, 0.0)


def test_what_scores_below_the_floor_is_not_given(project: Project) -> None:
    for number in range(300):
        project.remember("change", f"Move part {number} of the parser", f"Token {number} was read twice by the lexer.")
    change = project.remember(
        "change", "Retry uploads of invoices", "Uploads failed at night when the broker restarted."
    )
    prompt = "uploads of large pictures should survive when the broker restarts during backups"
    given = project.ask(prompt)
    score = part(given, change, "total")
    assert score > 0.5
    assert project.ask(prompt, floor=score * 0.99).items[0].source == change.id
    under = project.ask(prompt, floor=score * 1.01)
    assert not under.text
    assert why(under, change) == "below the floor"


def test_behind_enough_others_the_floor_is_still_the_reason_for_what_is_below_it(project: Project) -> None:
    for number in range(120):
        project.remember("change", f"Move part {number} of the parser", f"Token {number} was read twice by the lexer.")
    for lead in ("Webhooks arrive in bursts", "Refunds stay manual", "Pictures go to a bucket"):
        project.remember("decision", lead, f"{lead}: the webhooks for large pictures lock up the billing page.")
    change = project.remember("change", "Retry the webhooks", "They lock up.")
    prompt = "the webhooks for large pictures lock up the billing page when they arrive at once"
    at = ContextRequest(SHOP, NOW, explained=True)
    score = part(project.ask(prompt, at), change, "total")
    above, under = (project.ask(prompt, at, floor=score * share) for share in (0.99, 1.01))
    assert len(above.items) == len(under.items) == MAX_ITEMS
    assert why(above, change) == "others come before it"
    assert why(under, change) == "below the floor"


def test_what_was_decided_is_given_from_half_the_floor_on(project: Project) -> None:
    for number in range(120):
        project.remember("change", f"Move part {number} of the parser", f"Token {number} was read twice by the lexer.")
    decision = project.decide()
    prompt = "the webhooks for large pictures lock up the billing page when they arrive at once"
    score = part(project.ask(prompt), decision, "total")
    assert project.ask(prompt, floor=score * 1.9).items[0].source == decision.id
    assert not project.ask(prompt, floor=score * 2.1).text


def test_a_handoff_of_a_session_that_is_still_at_it_is_not_given(project: Project) -> None:
    left = project.remember(
        "handoff", "Left open: move billing to PostgreSQL", "Billing still uses SQLite.", session="x"
    )
    prompt = "move billing from SQLite to PostgreSQL"
    assert [item.source for item in project.ask(prompt).items] == [left.id]
    project.store.turn("k", "move billing", "doing it", session="x", at=NOW)
    assert why(project.ask(prompt), left) == "left open by a session that is still at work"


@pytest.mark.parametrize(("number", "is_given"), [(MAX_OPEN_SESSIONS - 1, True), (MAX_OPEN_SESSIONS, False)])
def test_a_handoff_is_given_as_long_as_in_contexts(project: Project, number: int, is_given: bool) -> None:
    left = project.remember(
        "handoff", "Left open: move billing to PostgreSQL", "Billing still uses SQLite.", session="x"
    )
    for one in range(number):
        summary = SessionSummary(headline=f"Edit part {one}", files_edited=("src/parser.py",))
        project.store.session(f"later{one}", summary, at=left.last_seen_at + timedelta(minutes=1 + one))
    given = project.ask("move billing from SQLite to PostgreSQL", ContextRequest(SHOP, NOW, explained=True))
    assert [item.source for item in given.items] == ([left.id] if is_given else [])
    assert is_given or why(given, left) == "left open, and 3 later sessions changed files"


@pytest.mark.parametrize("left_first", [True, False])
def test_a_failure_and_the_handoff_that_tells_of_it_are_told_once(project: Project, left_first: bool) -> None:
    title = "make frobulator fails: signature mismatch"
    failure = project.remember("failure", title, "The frobulator build broke.", session="x")
    left = project.remember(
        "handoff",
        f"Left open: Still failing: {title}",
        f"Still failing: {title}.",
        session="x",
        last_seen_at=NOW if left_first else NOW - timedelta(days=400),
    )
    given = project.ask("why does make frobulator fail with a signature mismatch?")
    said = [item.source for item in given.items]
    assert len(said) == 1
    other = left if said == [failure.id] else failure
    assert why(given, other) == "said by another that is given"


def test_a_handoff_of_another_failure_is_told_beside_it(project: Project) -> None:
    title = "make frobulator fails: signature mismatch"
    failure = project.remember("failure", title, "The frobulator build broke.", session="x")
    left = project.remember("handoff", f"Left open: {title[:30]}", "Sign it after make frobulator.", session="x")
    given = project.ask("why does make frobulator fail with a signature mismatch?", floor=LOW)
    assert {item.source for item in given.items} == {failure.id, left.id}


def test_the_floor_that_the_docs_tell_is_the_floor() -> None:
    assert f"Below {scoring.FLOOR} nothing is given" in page("docs/moments.md").text


def test_the_formulas_that_the_docs_show_hold() -> None:
    shown = re.findall(r"^     ((?:score|match|floor) .* = .*)$", page("docs/moments.md").text, re.M)
    assert len(shown) == 3
    for line in shown:
        value, computed = equation(line)
        assert computed == pytest.approx(value, abs=6e-4), line


def test_the_floor_is_lower_among_few() -> None:
    floors = [scoring.floor_among(number).value for number in (0, 1, 10, 100, 100_000)]
    assert floors == sorted(floors)
    assert floors[-1] == floors[-2] == scoring.FLOOR
    assert floors[0] > 0


def test_weights_are_those_of_the_sources() -> None:
    kinds = ("rule", "decision", "bugfix", "handoff", "project_fact", "feature", "note", "goal")
    assert [scoring.weight_of(kind) for kind in kinds] == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.3]  # type: ignore[arg-type]
