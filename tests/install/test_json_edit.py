"""Edits to JSON as text: exactly the edit, and every other byte as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.install import json_edit

KEYS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
STYLES = st.sampled_from([None, 0, 1, 2, 4, 7, "\t"])


@given(VALUES, STYLES, st.booleans())
def test_what_is_parsed_is_what_json_says(value: object, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert json_edit.parse(text).value == value


@given(st.dictionaries(KEYS, VALUES, max_size=4), STYLES, VALUES)
def test_a_member_appended_is_there_and_taken_out_again_leaves_the_text_as_it_was(
    before: dict[str, object], indent: int | str | None, value: object
) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=False)
    assert isinstance(value, object)
    key = "one more " * 3
    longer = json_edit.append(text, [], key, value)  # type: ignore[arg-type]
    assert json.loads(longer) == {**before, key: value}
    assert json_edit.remove(longer, [], key) == text


@given(st.lists(VALUES, min_size=1, max_size=4), STYLES, st.data())
def test_an_item_removed_leaves_the_others(items: list[object], indent: int | str | None, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    text = json.dumps({"list": items}, indent=indent)
    assert json.loads(json_edit.remove(text, ["list"], index)) == {"list": items[:index] + items[index + 1 :]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ("{}\n", '{\n  "k": [\n    1\n  ]\n}\n'),
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ('{"a":1}', '{"a":1,"k":[1]}'),
        ('{\n    "a": 1\n}', '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": [\n\t\t1\n\t]\n}\n'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": [\r\n    1\r\n  ]\r\n}\r\n'),
        ('\ufeff{"a": 1}', '\ufeff{"a": 1, "k": [1]}'),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"k": [\n1\n]\n}'),
    ],
)
def test_a_new_member_takes_the_style_of_the_text(text: str, expected: str) -> None:
    assert json_edit.append(text, [], "k", [1]) == expected


def test_an_array_written_on_one_line_stays_on_one_line() -> None:
    text = '{\n  "a": [1, 2],\n  "b": 3\n}'
    assert json_edit.append(text, ["a"], None, {"x": 4}) == '{\n  "a": [1, 2, {"x": 4}],\n  "b": 3\n}'


def test_of_two_members_of_one_name_the_last_counts() -> None:
    text = '{"a": [1], "a": [2]}'
    assert json_edit.append(text, ["a"], None, 3) == '{"a": [1], "a": [2, 3]}'


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", '{"a": 1,}', '{"a": NaN}', "{} {}", '{"a": 1} // c', "-Infinity"]
)
def test_what_is_not_strictly_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        json_edit.parse(text)
