"""A file before and after an edit, from what the client sends of it -> what became of its code."""

from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT
from claude_mem_lite.compress.toolcalls.edits import merge, read_change
from claude_mem_lite.compress.toolcalls.payload_fields import Folder
from claude_mem_lite.models import JsonValue, ToolCall
from tests.support.patches import patch

CWD = "/home/dev/shop"
PATH = f"{CWD}/src/auth.py"
BEFORE = """\
import time


class Session:
    def renew(self, token):
        self.token = token
        return self

    def expired(self):
        return self.until < time.time()


def login(user):
    session = Session()
    return session.renew(user.token)
"""


def _edit(before: str, after: str, tool: str = "Edit") -> ToolCall:
    response: JsonValue = {"filePath": PATH, "originalFile": before, "structuredPatch": patch(before, after)}
    return ToolCall(tool, {"file_path": PATH, "old_string": "", "new_string": ""}, response)


def _code(call: ToolCall) -> list[str]:
    change = read_change(call, Folder(CWD))
    assert change is not None
    return [f"{one.action} {one.file}::{one.name}" for one in change.code]


def test_an_edit_tells_the_function_it_changed_and_not_the_class_around_it() -> None:
    after = BEFORE.replace("self.token = token", "self.token = token.strip()")
    assert _code(_edit(BEFORE, after)) == ["modified src/auth.py::", "modified src/auth.py::Session.renew"]


def test_a_new_file_tells_all_that_it_defines_and_a_memory_names_what_stands_by_itself() -> None:
    change = read_change(ToolCall("Write", {"file_path": PATH, "content": BEFORE}, {"type": "create"}), Folder(CWD))
    assert change is not None
    assert [(one.name, one.action, one.before) for one in change.code] == [
        ("", "new", ABSENT),
        ("Session", "new", ABSENT),
        ("Session.renew", "new", ABSENT),
        ("Session.expired", "new", ABSENT),
        ("login", "new", ABSENT),
    ]
    assert [symbol.name for symbol in change.symbols] == ["Session", "login"]


def test_a_file_written_over_tells_what_is_gone_from_it() -> None:
    after = BEFORE.replace("    def expired(self):\n        return self.until < time.time()\n", "")
    call = ToolCall("Write", {"file_path": PATH, "content": after}, {"type": "update", "originalFile": BEFORE})
    assert _code(call) == ["modified src/auth.py::", "deleted src/auth.py::Session.expired"]


def test_without_a_patch_the_texts_of_the_call_are_put_in() -> None:
    edits = [
        {"old_string": "self.token = token", "new_string": "self.token = token.strip()"},
        {"old_string": "def login(user):", "new_string": "def login(user, again=False):"},
    ]
    call = ToolCall("MultiEdit", {"file_path": PATH, "edits": edits}, {"originalFile": BEFORE})
    assert _code(call) == [
        "modified src/auth.py::",
        "modified src/auth.py::Session.renew",
        "modified src/auth.py::login",
    ]


def test_a_renamed_function_is_one_that_changed_its_name() -> None:
    change = read_change(_edit(BEFORE, BEFORE.replace("def login(", "def sign_in(")), Folder(CWD))
    assert change is not None
    assert [(one.name, one.was, one.action) for one in change.code if one.name] == [("sign_in", "login", "modified")]


def test_imports_and_spaces_change_no_function() -> None:
    after = BEFORE.replace("import time\n", "import time\nimport sys\n").replace("(self, token)", "(self,  token)")
    change = read_change(_edit(BEFORE, after), Folder(CWD))
    assert change is not None
    assert change.symbols == ()
    assert _code(_edit(BEFORE, after)) == ["modified src/auth.py::"]


def test_edits_in_a_row_are_told_as_one_from_first_to_last() -> None:
    middle = BEFORE.replace("self.token = token", "self.token = token.strip()")
    after = middle.replace("token.strip()", "token.lower()").replace("def login(", "def enter(")
    first, second = (read_change(_edit(*pair), Folder(CWD)) for pair in ((BEFORE, middle), (middle, after)))
    assert first is not None
    assert second is not None
    (whole,) = merge((first, second))
    (once,) = merge((read_change(_edit(BEFORE, after), Folder(CWD)),))  # type: ignore[arg-type]
    assert set(whole.code) == set(once.code)


def test_what_was_put_back_is_no_change_of_a_function() -> None:
    after = BEFORE.replace("self.token = token", "self.token = token.strip()")
    first, second = (read_change(_edit(*pair), Folder(CWD)) for pair in ((BEFORE, after), (after, BEFORE)))
    (whole,) = merge((first, second))  # type: ignore[arg-type]
    assert [one.name for one in whole.code] == [""]
    assert whole.symbols == ()


def test_a_file_of_which_a_part_was_cut_out_is_told_by_the_look_of_its_lines() -> None:
    cut = BEFORE.replace("import time\n", "[… 900000 characters cut …]\n")
    change = read_change(_edit(cut, cut.replace("def login(user):", "def login(user, again=False):")), Folder(CWD))
    assert change is not None
    assert change.code == ()
    assert [symbol.name for symbol in change.symbols] == ["login"]


def test_a_patch_with_lines_left_out_is_not_taken_for_the_whole() -> None:
    after = BEFORE.replace("self.token = token", "self.token = token.strip()")
    hunks = patch(BEFORE, after)
    hunks[0]["lines"].insert(2, "[… 12 items cut …]")
    call = ToolCall("Edit", {"file_path": PATH}, {"originalFile": BEFORE, "structuredPatch": hunks})
    change = read_change(call, Folder(CWD))
    assert change is not None
    assert change.code == ()


def test_of_a_language_that_is_not_read_only_the_file_is_told() -> None:
    call = ToolCall("Write", {"file_path": f"{CWD}/a.toml", "content": "x = 1\n"}, {"type": "create"})
    change = read_change(call, Folder(CWD))
    assert change is not None
    assert [(one.name, one.after) for one in change.code] == [("", PRESENT)]


def test_a_patch_that_counts_lines_that_were_taken_out_of_the_file_is_not_applied_to_the_wrong_function() -> None:
    block = "<private>\n" + "secret line\n" * 14 + "</private>\n"
    real = block + BEFORE
    hunks = patch(real, real.replace("def login(user):", "def login(user, again=False):"))
    shown = "[private]\n" + BEFORE
    given = {"file_path": PATH, "old_string": "def login(user):", "new_string": "def login(user, again=False):"}
    call = ToolCall("Edit", given, {"originalFile": shown, "structuredPatch": hunks})
    assert _code(call) == ["modified src/auth.py::", "modified src/auth.py::login"]

    lost = ToolCall("Edit", {"file_path": PATH}, {"originalFile": shown, "structuredPatch": hunks})
    change = read_change(lost, Folder(CWD))
    assert change is not None
    assert change.code == ()


GO = """\
package shop

func Total(items []Item) int {
	sum := 0
	return sum
}

func Map(items []Item) []Item {
	return items
}
"""


def test_what_a_missing_brace_hides_for_a_moment_is_neither_deleted_nor_new() -> None:
    broken = GO.replace("return sum\n}", "return sum + 1\n")
    path = f"{CWD}/shop.go"

    def code(before: str, after: str) -> set[tuple[str, str]]:
        call = ToolCall("Write", {"file_path": path, "content": after}, {"type": "update", "originalFile": before})
        change = read_change(call, Folder(CWD))
        assert change is not None
        return {(one.action, one.name) for one in change.code if one.name}

    assert ("deleted", "Map") not in code(GO, broken)
    assert ("new", "Map") not in code(broken, GO)
    assert ("new", "Fresh") in code(broken, GO + "\nfunc Fresh() int {\n\treturn 1\n}\n")
    assert ("deleted", "Map") in code(GO, GO.partition("func Map")[0])
