"""`--explain`: every printed score is a sum or a product that can be recomputed from its own line, with its floor."""

import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.client.client import Client
from claude_mem_lite.models import KINDS
from tests.support.arithmetic import by_hand, equation
from tests.support.running import Json, Machine, open_machine, wait_until
from tests.worker.commands import run_here

PROMPT = "let the shopping carts stay in SQLite, and have the payment provider refund an order"
SUBJECTS = ("shopping carts in SQLite", "refunds by the payment provider", "orders and invoices", "the search page")
VERBS = ("Keep", "Move", "Test", "Cache", "Log", "Rename")
REASONS = ("one file is easy to back up", "the provider times out", "customers asked for it", "the table was locked")
ORIGINS = ("user", "assistant", "code", "command", "import")
_TERM = re.compile(r"\s*(?:words|meaning|recency|pinned|held back) (-?\d\.\d{4}) \(")
_SCORE = re.compile(r"\s*score (\S+), the sum of$")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Path]]:
    """A worker with 60 memories of every kind, age, origin and number of sightings, some of them pinned."""
    folder = tmp_path_factory.mktemp("shop")
    file = folder / "memories.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in _lines(random.Random(7))))
    with open_machine() as machine:
        machine.start_worker()
        run_here(machine, "import", "jsonl", file, "--trust", cwd=folder)
        wait_until(lambda: not Client(machine.home).index().waiting, "everything to be indexed")
        yield machine, folder


def _lines(chance: random.Random) -> Iterator[Json]:
    now = datetime.now(UTC)
    for number in range(60):
        subject, reason = chance.choice(SUBJECTS), chance.choice(REASONS)
        title = f"{chance.choice(VERBS)} {subject} {number}"
        yield {
            "kind": KINDS[number % len(KINDS)],
            "title": title,
            "summary": f"{title}, because {reason}.",
            "origin": chance.choice(ORIGINS),
            "pinned": chance.random() < 0.1,
            "times_seen": chance.randint(1, 12),
            "session": f"s-{number % 9}",
            "last_seen_at": (now - timedelta(days=chance.choice((0, 3, 20, 70, 400)))).isoformat(),
        }


def explained(told: tuple[Machine, Path], *arguments: str) -> tuple[list[str], Json]:
    """What a command prints with --explain, by lines, and the same as JSON."""
    machine, folder = told
    text = run_here(machine, *arguments, "--explain", cwd=folder).stdout
    return text.splitlines(), json.loads(run_here(machine, *arguments, "--explain", "--json", cwd=folder).stdout)


def test_every_candidate_of_a_prompt_is_a_product_with_its_floor(told: tuple[Machine, Path]) -> None:
    lines, answer = explained(told, "context", "--prompt", PROMPT)
    candidates = answer["candidates"]
    assert len(candidates) >= 20
    for one in candidates:
        score, match, floor, words = one["explained"]
        assert f"     {words}" in lines
        for line in (score, match, floor, words.partition("; ")[0]):
            shown, computed = equation(line)
            assert computed == pytest.approx(shown, abs=6e-4), line
            assert any(each.startswith(f"     {line}") for each in lines)
        assert equation(score)[0] == one["score"]
        assert equation(match)[0] == one["parts"]["match"]
        assert equation(floor)[0] == one["floor"]
        parts = dict(one["parts"])
        evidence = parts.pop("match") + parts.pop("support")
        for factor in parts.values():
            evidence *= factor
        assert evidence == pytest.approx(one["score"], abs=6e-4)


def test_what_is_in_or_below_the_floor_agrees_with_the_printed_numbers(told: tuple[Machine, Path]) -> None:
    _, answer = explained(told, "context", "--prompt", PROMPT)
    given = {item["source"] for item in answer["items"]}
    for one in answer["candidates"]:
        assert (one["left_out"] == "") is (one["id"] in given)
        if one["left_out"] == "below the floor":
            assert one["score"] < one["floor"]
        elif not one["left_out"]:
            assert one["score"] >= one["floor"]
    lower = [one for one in answer["candidates"] if one["floor"] < answer["floor"]]
    reasons = {re.split(r" × (?=0\.5 )", one["explained"][2])[-1].partition(":")[0] for one in lower}
    assert reasons <= {"0.5 (learned or decided)", "0.5 (it has most words of the prompt"}
    assert "0.5 (learned or decided)" in reasons


@pytest.mark.parametrize("prompt", [PROMPT, "rename the search page", "test invoices", "hello", "Log orders 16"])
def test_what_words_count_can_be_recomputed_from_what_is_printed(told: tuple[Machine, Path], prompt: str) -> None:
    lines, answer = explained(told, "context", "--prompt", prompt)
    asked = answer["asked"]
    assert asked in lines
    total, counted = equation(asked.partition("; ")[0])
    assert counted == pytest.approx(total)
    silent = total < by_hand(asked.partition("; the floor is ")[2])
    assert silent is (answer["why_silent"] == "the prompt says too little to go by")
    for one in answer["candidates"]:
        words, floor = one["explained"][3].split("; ")
        shared, counted = equation(words)
        assert counted == pytest.approx(shared)
        assert sorted(one["words"]) == sorted(_named(words))
        if one["left_out"] == "it shares too few words with the prompt":
            assert shared < by_hand(floor.removeprefix("the floor is "))
        elif not one["left_out"]:
            exception = "no floor: its title has all words of the prompt"
            assert floor == exception or shared >= by_hand(floor.removeprefix("the floor is "))


def test_the_half_floor_of_most_words_follows_from_the_printed_counts(told: tuple[Machine, Path]) -> None:
    _, answer = explained(told, "context", "--prompt", "rename the search page")
    asked, _ = equation(answer["asked"].partition("; ")[0])
    floors = [one["explained"][2:] for one in answer["candidates"] if "most words" in one["explained"][2]]
    assert floors
    for floor, words in floors:
        found = re.search(r"most words of the prompt: (\S+) of (\S+), from (.+) on\)", floor)
        assert found
        assert (float(found[1]), float(found[2])) == (equation(words.partition("; ")[0])[0], asked)
        assert float(found[1]) >= by_hand(found[3])


def _named(words: str) -> Iterator[str]:
    for named in re.findall(r"\(([^()]*)\)", words):
        yield from named.split(", ")


def test_every_scored_candidate_of_a_start_is_a_sum_with_its_floor(told: tuple[Machine, Path]) -> None:
    lines, answer = explained(told, "context")
    scored = [one for one in (*answer["items"], *answer["left_out"]) if one["score"] is not None]
    assert len(scored) >= 20
    floors = set()
    for one in scored:
        formula, *rest = one["explained"].split("; ")
        floor = next(
            part for part in rest if part.startswith(("the floor of the layer is ", "no floor of the layer: "))
        )
        shown, computed = equation(formula)
        assert computed == pytest.approx(shown, abs=6e-5), formula
        assert shown == one["score"]
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=3e-4)
        assert any(line.endswith(f", {one['explained']}") for line in lines)
        floors.add(floor)
        if one.get("left_out", "").startswith("below the floor"):
            assert one["score"] < by_hand(floor.removeprefix("the floor of the layer is "))
    assert floors == {
        "the floor of the layer is 0.7",
        "no floor of the layer: stated by the user",
        "no floor of the layer: pinned by the user",
    }


def test_scored_lines_stand_by_group_then_by_score_as_they_say(told: tuple[Machine, Path]) -> None:
    _, answer = explained(told, "context", "--preset", "codes")
    layers: dict[str, list[tuple[int, float]]] = {}
    for one in answer["items"]:
        if one["score"] is not None and "contradicts" not in one["reason"] + one["explained"]:
            group = re.search(r"; group (\d) of 4: ", one["explained"])
            placed = re.search(r"; placed by .+ = ([\d.]+);", one["explained"])
            assert group, one["explained"]
            place = int(group[1]), -float(placed[1] if placed else one["score"])
            layers.setdefault(one["layer"], []).append(place)
    assert len({group for places in layers.values() for group, _ in places}) > 2
    assert layers == {name: sorted(places) for name, places in layers.items()}


@pytest.mark.parametrize("query", [PROMPT, "shopping carts", "refunds provider 17", "banana smoothie recipe"])
def test_the_terms_of_every_hit_add_up_to_its_score(told: tuple[Machine, Path], query: str) -> None:
    lines, hits = explained(told, "search", query, "--limit", "30")
    for hit in hits:
        terms = [float(found[1]) for reason in hit["why"] if (found := _TERM.match(reason))]
        assert sum(terms) == pytest.approx(hit["score"], abs=3e-4), hit["why"]
        certainty, words, floor = next(why for why in hit["why"] if why.startswith("certainty ")).split("; ")
        for line in (certainty, words):
            shown, computed = equation(line)
            assert computed == pytest.approx(shown, abs=6e-3), line
        least = by_hand(floor.removeprefix("the floor is ").removesuffix(", by words alone"))
        assert hit["certain"] is (equation(certainty)[0] >= least)
    printed = list(_printed(lines))
    assert sorted(score for score, _ in printed) == sorted(hit["score"] for hit in hits)
    for score, terms in printed:
        assert sum(terms) == pytest.approx(score, abs=3e-4)


def _printed(lines: list[str]) -> Iterator[tuple[float, list[float]]]:
    """The scores of a printed search, each with its terms."""
    score: float | None = None
    terms: list[float] = []
    for line in (*lines, "    score 0, the sum of"):
        if found := _SCORE.match(line):
            if score is not None:
                yield score, terms
            score, terms = float(found[1]), []
        elif term := _TERM.match(line):
            terms.append(float(term[1]))
