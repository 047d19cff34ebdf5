"""Hand-checked turns, per tool and runner: which of their facts can still be read once rules have compressed them."""

import pytest

from tests.cases.case import Case, store
from tests.cases.every import CASES, lost_facts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exactly_the_facts_survive_that_the_case_says(case: Case) -> None:
    stored = store(case)
    assert lost_facts(case, stored) == list(case.lost), stored.text
    assert [fact for fact in case.summary_facts if fact not in stored.summary] == [], stored.summary
    assert [text for text in case.never if text in stored.text or text in stored.summary] == []
    if case.memories is not None:
        assert len(stored.digest.drafts) == case.memories, [draft.title for draft in stored.digest.drafts]
    assert set(case.kinds) <= {draft.kind for draft in stored.digest.drafts}


def test_nine_of_ten_facts_survive() -> None:
    facts = sum(len(case.facts) for case in CASES)
    lost = sum(len(lost_facts(case, store(case))) for case in CASES)
    assert lost <= facts * 0.1


def test_the_cases_are_many_and_each_has_its_own_name() -> None:
    names = {case.name for case in CASES}
    assert len(names) == len(CASES) >= 60


def test_what_a_case_says_is_lost_is_one_of_its_facts() -> None:
    assert [case.name for case in CASES if not set(case.lost) <= set(case.facts)] == []
