"""The suite of planted facts on a made-up project: who answers all that is near fails, and so does who says nothing."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest
from benchmarks.conditions import Outcome, all_figures, asked, verdict
from benchmarks.planted_facts import CONDITIONS, Case, Condition, Subject, cases
from benchmarks.planted_templates import TEMPLATES
from benchmarks.transcripts import Data

from tests.support.past_sessions import LONG_AGO, SHOP, PastSession

AREAS = ("carts", "orders", "prices", "users")
NAMES = tuple(f"{area}_{part}" for area in AREAS for part in ("reader", "writer", "router"))
# Of these several may hold at a time, so that two statements do not exclude each other.
SEVERAL = {"alerts", "approval", "command", "flag", "follow-up", "mirror", "region", "sign-off", "variable"}
FIRST, SECOND, OTHER = "11111", "22222", "33333"
CASE = Case(
    0, Subject("file", "src/carts.py", "src/users.py"), TEMPLATES[0], (FIRST, SECOND, OTHER), "remember", "reply"
)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    folder = tmp_path_factory.mktemp("planted")
    data = folder / "shop"
    for number, name in enumerate(NAMES):
        _session(number, name).write(data / "sessions", packed=True)
    started = [{"session": f"s{number}", "started": _at(number), "files": []} for number in range(len(NAMES))]
    (data / "sessions.json").write_text(json.dumps(started))
    return list(asked(Data(data), folder / "base", folder / "run", len(TEMPLATES)))


def _at(number: int) -> str:
    return (LONG_AGO + timedelta(days=number)).isoformat()


def _session(number: int, name: str) -> PastSession:
    """A session that reads a file and works on its function."""
    path, text = f"{SHOP}/src/{name}.py", f"def open_{name}(row):\n    return row\n"
    read = {"file": {"filePath": path, "content": text, "startLine": 1, "numLines": 2, "totalLines": 2}}
    return (
        PastSession(f"s{number}", LONG_AGO + timedelta(days=number))
        .prompt(f"Have a look at src/{name}.py")
        .calls("Read", {"file_path": path})
        .gets(text, read)
        .runs(f"make check-{name}", "ok")
        .says(f"`open_{name}` in src/{name}.py returns its row as it is. `make check-{name}` passes.")
    )


def _verdicts(outcomes: Sequence[Outcome], injector: str) -> dict[Condition, Counter[str]]:
    found: dict[Condition, Counter[str]] = {condition: Counter() for condition in CONDITIONS}
    for one in outcomes:
        if one.injector == injector:
            found[one.condition][one.verdict] += 1
    return found


def test_the_product_is_never_wrong_where_a_naive_injector_is(outcomes: list[Outcome]) -> None:
    product, naive = _verdicts(outcomes, "product"), _verdicts(outcomes, "naive")
    number = product["present"].total()
    assert number >= len(TEMPLATES) // 2
    assert {condition: product[condition]["wrong"] for condition in CONDITIONS} == dict.fromkeys(CONDITIONS, 0)
    assert product["early"]["right"] >= 0.8 * number
    assert product["present"]["right"] >= 0.9 * number
    assert product["superseded"]["right"] >= 0.9 * number
    for condition in ("absent", "adjacent", "beside another", "superseded", "superseded in other words"):
        assert naive[condition]["wrong"] >= 0.9 * number


def test_a_start_context_has_no_replaced_value_of_what_has_one_at_a_time(outcomes: list[Outcome]) -> None:
    judged = [one for one in outcomes if one.injector == "product" and one.condition in ("superseded", "contradictory")]
    verdicts = [(verdict(one.condition, one.case, one.start), one) for one in judged]
    wrong = {one.case.template.name for found, one in verdicts if found == "wrong"}
    assert wrong <= SEVERAL
    assert "right" in {found for found, _ in verdicts}


def test_every_condition_is_asked_in_the_same_words(outcomes: list[Outcome]) -> None:
    product = [one for one in outcomes if one.injector == "product"]
    asked_in = {
        condition: [one.case.question for one in product if one.condition == condition] for condition in CONDITIONS
    }
    assert all(questions == asked_in["present"] for questions in asked_in.values())


def test_the_naive_injector_misses_the_bars(outcomes: list[Outcome]) -> None:
    as_product = [
        Outcome(one.project, one.condition, one.case, one.given, start=one.given)
        for one in outcomes
        if one.injector == "naive"
    ]
    missed = {figure.name for figure in all_figures(as_product) if not figure.holds()}
    assert {"all: absent, wrong", "all: adjacent, wrong", "all: superseded, wrong"} <= missed
    assert "start context, superseded: wrong" in missed


def test_the_bars_ask_for_two_hundred_cases_and_nine_tenths_right() -> None:
    made = [Outcome("shop", condition, CASE, "") for condition in CONDITIONS]
    floors = {figure.name: figure.floor for figure in all_figures(made)}
    judged = ("absent: cases", "adjacent: cases", "superseded: cases", "all: present, right")
    assert [floors[name] for name in judged] == [200, 200, 200, 0.9]


@pytest.mark.parametrize(
    ("condition", "given", "expected"),
    [
        ("present", "", "silent"),
        ("present", f"port {FIRST}", "right"),
        ("present", "port 1111", "wrong"),
        ("present", f"port 1{FIRST}", "wrong"),
        ("present", f"port {FIRST} or {OTHER}", "wrong"),
        ("absent", "", "right"),
        ("absent", "anything", "wrong"),
        ("adjacent", f"port {OTHER}", "wrong"),
        ("superseded", "", "silent"),
        ("superseded", f"port {SECOND}", "right"),
        ("superseded", f"port {FIRST}, then {SECOND}", "wrong"),
        ("superseded in other words", "", "silent"),
        ("superseded in other words", f"port {FIRST}", "wrong"),
        ("beside another", "", "right"),
        ("beside another", f"port {OTHER}", "wrong"),
        ("early", f"port {FIRST}", "right"),
        ("contradictory", "", "silent"),
        ("contradictory", f"port {FIRST} or {SECOND}", "right"),
        ("contradictory", f"port {SECOND}", "wrong"),
    ],
)
def test_an_answer_is_judged_by_the_values_in_it(condition: Condition, given: str, expected: str) -> None:
    assert verdict(condition, CASE, given) == expected


def test_a_fact_is_never_planted_of_the_subject_of_another_case() -> None:
    subjects = [Subject("file", f"src/a{number}.py", f"src/a{number + 1}.py") for number in range(0, 30)]
    made = cases(subjects, "", 30, "seed")
    names = [name for case in made for name in (case.subject.name, case.subject.sibling)]
    assert len(names) == len(set(names))


def test_a_subject_that_the_past_speaks_of_is_no_case() -> None:
    subjects = [Subject("file", "src/a.py", "src/b.py"), Subject("file", "src/c.py", "src/d.py")]
    past = "The debug server of a.py took another port."
    assert [case.subject.name for case in cases(subjects, past, 1, "seed")] == ["src/c.py"]
