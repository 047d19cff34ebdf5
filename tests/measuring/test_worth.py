"""Labels as references, and the models that are fitted to them."""

import json

import numpy as np
import pytest
from benchmarks.label_files import fingerprint
from benchmarks.past_turns import PastTurn
from benchmarks.turn_labels import LABELS, label_of, load, references
from benchmarks.turn_sheets import sheet
from benchmarks.worth import outcome
from training.examples import Example
from training.logistic import fit, rows, save_models, vocabulary

from claude_mem_lite.compress.compose.judge import Judge
from claude_mem_lite.compress.compose.judge import load as load_judge
from claude_mem_lite.compress.prose.linear_model import Linear
from claude_mem_lite.models import Draft
from tests.support.turns import turn

PAST = PastTurn(
    "shop",
    turn("why?", closing="The cart was lost because its key was the session alone. It is the user now. Tests pass."),
    1,
    "",
)
ANSWER = {
    "turn": "s:1",
    "cards": [{"grade": 2, "kind": "bugfix", "title": "Key carts by user", "from": {"s1": "cause", "s2": "result*"}}],
}


def labelled() -> Example:
    (line,) = references([ANSWER], [PAST], "r1")
    return Example(PAST, (label_of(json.loads(line)),))


def test_a_label_refers_to_sentences_by_number_and_hash_and_holds_no_text() -> None:
    (line,) = references([ANSWER], [PAST], "r1")
    assert "session alone" not in line
    assert f"s1:{fingerprint(PAST.candidates[0].text)}" in line


def test_an_answer_about_an_unknown_turn_or_with_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no turn is called x:9"):
        list(references([{"turn": "x:9", "cards": []}], [PAST], "r1"))
    wrong = {"turn": "s:1", "cards": [{"grade": 2, "kind": "poem", "title": "x", "from": {}}]}
    with pytest.raises(ValueError, match="'poem'"):
        list(references([wrong], [PAST], "r1"))


def test_the_roles_of_a_labelled_turn_follow_its_sentences() -> None:
    one = labelled()
    told = [wanted for wanted, _ in one.roles(one.label)]
    assert [row[0] for row in told] == [1.0, 1.0, 0.0]
    assert told[0][1] == 1.0
    assert told[1][7] == 1.0


def test_a_memory_that_tells_a_carrying_sentence_counts() -> None:
    one = labelled()
    good = outcome(one, [Draft("bugfix", "Carts", "The cart was lost because its key was the session alone.")])
    assert (good.kept, good.carries, good.right_kind) == (True, True, True)
    poor = outcome(one, [Draft("change", "Tests", "Tests pass.")])
    assert (poor.kept, poor.carries, poor.right_kind) == (True, False, False)


def test_a_sheet_shows_a_turn_with_its_numbered_sentences() -> None:
    shown = sheet(PAST)
    assert shown.startswith("=== s:1")
    assert "s2: It is the user now." in shown


def test_the_labels_of_the_repository_can_be_read_and_hold_both_readers() -> None:
    labels = load(LABELS)
    turns = [label.turn for label in labels]
    assert len(set(turns)) >= 500
    assert len(turns) - len(set(turns)) >= 80
    assert len({label.project for label in labels}) == 5


def test_a_logistic_model_learns_what_words_and_numbers_tell() -> None:
    grams = [["fixed", "cart"], ["done"], ["fixed", "parser"], ["done", "cart"]] * 10
    numbers = [[1.0], [0.0], [1.0], [0.0]] * 10
    words = vocabulary(grams, ["a", "b"] * 20, at_least=5, in_projects=1)
    wanted = np.array([1.0, 0.0, 1.0, 0.0] * 10)
    given = rows(grams, numbers, words)
    weights = fit(given, wanted, np.ones(40))
    assert ((given.times(weights) > 0) == (wanted > 0)).all()
    again = Linear({word: at for at, word in enumerate(words)}, weights[:, None].astype(np.float32))
    assert np.allclose(again.scores(grams, numbers)[:, 0], 1 / (1 + np.exp(-given.times(weights))), atol=1e-4)


def test_a_saved_judge_judges_as_before(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("judge") / "judge.npz"
    model = Linear({"fixed": 0, "done": 1}, np.array([[1.5], [-2.0], [0.5]], dtype=np.float32))
    save_models(vars(Judge(model, model, model, model)), path)
    assert load_judge(path).sentence.vocabulary == model.vocabulary
    assert np.allclose(load_judge(path).kind.weights, model.weights)


def test_a_sentence_keeps_its_fingerprint_whatever_its_marks_and_case() -> None:
    assert fingerprint("The **cart** was lost!") == fingerprint("the cart, was lost")
    assert fingerprint("The cart was lost") != fingerprint("The cart was found")
