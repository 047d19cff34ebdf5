"""Lines of the page about memories received from a teammate."""

from claude_mem_lite.responses.encoding import from_json
from claude_mem_lite.responses.records import SearchHit
from claude_mem_lite.ui.templating import source
from tests.support.fake_worker import HIT


def test_the_source_of_a_received_memory_is_its_author() -> None:
    assert source(from_json(SearchHit, {**HIT, "origin": "team", "author": "Ana"})) == "Ana"
    assert source(from_json(SearchHit, {**HIT, "origin": "code"})) == "code"
