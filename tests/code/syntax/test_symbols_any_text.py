"""Any text has symbols or has none: nothing that is sent as a source may raise, or take without bound."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.code.syntax.languages import MAX_TEXT_BYTES
from claude_mem_lite.code.syntax.symbols import read_symbols

# a function `answer` on a line of its own
FUNCTIONS = {
    "python": "def answer(): return 42\n",
    "javascript": "function answer() { return 42; }\n",
    "typescript": "function answer(): number { return 42; }\n",
    "tsx": "function answer() { return <p>42</p>; }\n",
    "go": "func answer() int { return 42 }\n",
    "rust": "fn answer() -> u8 { 42 }\n",
    "java": "class Answer { int answer() { return 42; } }\n",
    "c": "int answer(void) { return 42; }\n",
    "cpp": "int answer() { return 42; }\n",
    "ruby": "def answer() 42 end\n",
}
LANGUAGES = sorted(FUNCTIONS)
FRAGMENTS = [
    *FUNCTIONS.values(),
    *"(){}[]<>;:,.=*&@#~!?\\/\"'`|%$",
    *(
        " ",
        "  ",
        "\n",
        "\n    ",
        "\t",
        "\r\n",
        "\f",
        "\0",
        "é",
        "名前",
        "\ud800",
        "\u2028",
        "1",
        "0x",
        "a",
        "b",
        "Shop",
    ),
    *("def ", "class ", "function ", "function* ", "fn ", "func ", "impl ", "trait ", "struct ", "enum ", "union "),
    *("interface ", "namespace ", "module ", "mod ", "type ", "const ", "let ", "var ", "static ", "async ", "export "),
    *("default ", "template <", "typedef ", "extern ", "#define ", "operator", "void ", "int ", "return ", "end\n"),
    *("=>", "->", "::", "=begin\n", "=end\n", "<<~TEXT\n", "TEXT\n", "/*", "*/", "//", "# ", '"""', "@decorator\n"),
    *("#[derive(A)]\n", "<<<<<<< HEAD\n", "=======\n", ">>>>>>> other\n", "self.", "this.", "prototype.", "...", "${"),
]
every_language = pytest.mark.parametrize("language", LANGUAGES)


@every_language
def test_text_over_the_limit_is_not_read_and_text_at_the_limit_is(language: str) -> None:
    at_limit = FUNCTIONS[language].ljust(MAX_TEXT_BYTES)
    found = read_symbols(at_limit, language)
    assert found is not None
    assert "answer" in found[-1].name
    assert read_symbols(at_limit + " ", language) is None


def test_the_limit_counts_bytes() -> None:
    assert read_symbols("é" * (MAX_TEXT_BYTES // 2) + " ", "python") is None


@pytest.mark.parametrize("language", ["", "perl", "Python", "PYTHON", "python ", "../go"])
def test_a_language_that_is_not_known_is_not_read(language: str) -> None:
    assert read_symbols("def answer(): return 42", language) is None


@every_language
@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\ufeff", "\0"])
def test_a_text_that_says_nothing_has_no_symbols(language: str, text: str) -> None:
    assert read_symbols(text, language) == ()


@every_language
@pytest.mark.parametrize("strange", ["\0\0\0", "\ud800", "\x01\x02\x03", "\ufeff", "\u2028\u2029"])
def test_a_function_before_strange_characters_is_found(language: str, strange: str) -> None:
    found = read_symbols(f"{FUNCTIONS[language]}\n\n{strange}\n", language)
    assert found
    assert found[-1].name.endswith("answer")
    assert (found[-1].first, found[-1].last) == (1, 1)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "rust"])
def test_a_function_before_several_halves_of_surrogate_pairs_is_found(language: str) -> None:
    found = read_symbols(f"{FUNCTIONS[language]}\n\n\udfff\ud800\n", language)
    assert found
    assert found[-1].name.endswith("answer")


def test_a_function_of_rust_before_several_halves_of_surrogate_pairs_is_found() -> None:
    found = read_symbols(f"{FUNCTIONS['rust']}\n\n\udfff\ud800\n", "rust")
    assert found
    assert found[-1].name.endswith("answer")


@every_language
@pytest.mark.parametrize("bracket", ["(", "[", "{", "<", "([{<", "a(", "{\n", "=>", "if (a) {", '"', "`${", "/*"])
def test_a_hundred_thousand_open_brackets_do_no_harm(language: str, bracket: str) -> None:
    found = read_symbols(FUNCTIONS[language] + bracket * (100_000 // len(bracket)), language)
    assert found is None or len(found) <= 2


@every_language
def test_thousands_of_functions_are_all_found(language: str) -> None:
    text = "".join(FUNCTIONS[language].replace("nswer", f"nswer{number}") for number in range(2_000))
    found = read_symbols(text, language)
    assert found is not None
    assert {one.name.rpartition(".")[2] for one in found} >= {f"answer{number}" for number in range(2_000)}
    assert found[-1].last == 2_000


@every_language
@settings(deadline=None, max_examples=50)
@given(pieces=st.lists(st.sampled_from(FRAGMENTS), max_size=60))
def test_whatever_the_text_names_are_unique_and_lines_are_within_it(language: str, pieces: list[str]) -> None:
    text = "".join(pieces)[:300]
    found = read_symbols(text, language)
    assert found is not None
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert 1 <= one.first <= one.last <= text.count("\n") + 1
        assert "\n" not in one.signature
        assert len(one.body) == 12
    assert read_symbols(text, language) == found


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", "const ${}"),
        ("cpp", "const ${}"),
        ("java", "@int answer() { return 42; }\n"),
        ("ruby", "def =end\n"),
        ("ruby", "module ::end\n"),
    ],
)
def test_what_has_no_name_is_no_symbol(language: str, text: str) -> None:
    found = read_symbols(text, language)
    assert found is not None
    assert all(one.name for one in found)
