"""The splitter agrees with the reference tokenizer (`wordpieces.json` holds what that one gave), and the shipped
table gives vectors that can be compared."""

import json
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.embed import embedder
from claude_mem_lite.embed.embedder import DATA, DIMENSIONS, SCALE, Splitter, StaticTable
from claude_mem_lite.providers import Embedder

GOLDEN = json.loads((Path(__file__).parent / "wordpieces.json").read_text(encoding="utf-8"))
PIECES = (DATA / "pieces.txt").read_text(encoding="utf-8").split("\n")
SPLITTER = Splitter({piece: row for row, piece in enumerate(PIECES)})
TABLE = StaticTable()

RELATED = [
    (
        "fix the crash when the config file is missing",
        "the program no longer fails if there is no configuration",
        "use a larger font in the page header",
    ),
    (
        "database connection times out",
        "queries wait too long for the postgres server and give up",
        "translate the menu into French",
    ),
    (
        "add unit tests for the parser",
        "write test cases that cover parsing",
        "raise the memory limit of the container",
    ),
    (
        "user login is broken after the password reset",
        "authentication fails once credentials were changed",
        "draw the chart with a logarithmic axis",
    ),
    (
        "git push rejected by the remote",
        "cannot push commits, the repository refuses the branch",
        "resize images before the upload",
    ),
    (
        "speed up the search index",
        "make full text queries faster",
        "rename the licence file",
    ),
]


def cosine(a: bytes, b: bytes) -> float:
    x, y = memoryview(a).cast("b").tolist(), memoryview(b).cast("b").tolist()
    return float(sum(p * q for p, q in zip(x, y, strict=True)) / (length(a) * length(b)))


def length(vector: bytes) -> float:
    return float(sum(p * p for p in memoryview(vector).cast("b").tolist()) ** 0.5)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: ascii(case["text"][:20]))
def test_a_text_splits_as_the_reference_tokenizer_splits_it(case: dict[str, object]) -> None:
    assert [PIECES[row] for row in SPLITTER.split(str(case["text"]))] == case["pieces"]


def test_every_ascii_text_splits_the_same_by_the_short_way_and_the_long_way() -> None:
    text = "".join(map(chr, range(32, 127))) + " don't_do --this=X9"
    assert embedder.words(text) == embedder.words(text + "\n")


def test_a_long_text_is_cut_after_so_many_pieces() -> None:
    assert len(SPLITTER.split("word " * 20_000)) == embedder.MAX_PIECES


def test_words_beyond_the_size_of_the_cache_split_as_before() -> None:
    splitter = Splitter({"a": 0, "##1": 1, "##2": 2})
    before = splitter.split("a1 a2 a12")
    rng = random.Random(7)
    for _ in range(embedder.CACHED_WORDS // 100 + 2):
        splitter.split(" ".join(f"x{rng.randrange(10**9)}" for _ in range(100)))
    assert splitter.split("a1 a2 a12") == before == [0, 1, 0, 2, 0, 1, 2]


@settings(deadline=None)
@given(st.text(st.characters(), max_size=300))
def test_any_text_gives_a_vector_and_always_the_same(text: str) -> None:
    first, second = TABLE.embed([text, text])
    assert len(first) == DIMENSIONS
    assert first == second == TABLE.embed([text])[0]


@settings(deadline=None)
@given(st.text(st.characters(categories=["Cs", "Cc", "Cf", "Co"]), max_size=50))
def test_surrogates_and_control_characters_alone_give_zeros(text: str) -> None:
    assert TABLE.embed([text.translate(dict.fromkeys(b"\t\n\r"))]) == [bytes(DIMENSIONS)]


@pytest.mark.parametrize("text", ["", " \n\t", "\ud800", "x" * 101])
def test_a_text_without_a_known_word_gives_zeros(text: str) -> None:
    assert TABLE.embed([text]) == [bytes(DIMENSIONS)]


def test_vectors_have_one_length() -> None:
    for vector in TABLE.embed([text for case in RELATED for text in case]):
        assert length(vector) == pytest.approx(SCALE, rel=0.02)


@pytest.mark.parametrize(("text", "related", "other"), RELATED)
def test_a_related_text_is_closer_than_another(text: str, related: str, other: str) -> None:
    own, near, far = TABLE.embed([text, related, other])
    assert cosine(own, near) > cosine(own, far) + 0.1


def test_a_text_is_closest_to_its_own_paraphrase_among_all() -> None:
    questions = TABLE.embed([text for text, _, _ in RELATED])
    answers = TABLE.embed([related for _, related, _ in RELATED])
    for number, question in enumerate(questions):
        assert max(range(len(answers)), key=lambda i: cosine(question, answers[i])) == number


def test_what_was_let_go_is_loaded_again() -> None:
    table: Embedder = StaticTable()
    before = table.embed(["the same text"])
    table.release()
    table.release()
    assert table.embed(["the same text"]) == before


def test_threads_get_the_same_vectors_while_another_lets_go() -> None:
    table = StaticTable()
    texts = [text for case in RELATED for text in case]
    wanted, found = TABLE.embed(texts), []

    def work() -> None:
        for _ in range(20):
            found.append(table.embed(texts) == wanted)
            table.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


def test_the_notice_names_where_the_table_comes_from() -> None:
    notice = (DATA / "NOTICE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in notice
    assert "Apache" in notice
