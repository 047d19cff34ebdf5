"""Made-up source files in eight languages, each text told by its number and by how often its functions were changed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

FEWEST_FUNCTIONS, MAX_FUNCTIONS = 3, 15
_FILES_PER_FOLDER = 40
_VERBS = "load save parse render merge split check open close find count build apply reset watch route".split()  # noqa: SIM905
_NOUNS = "order user token cache page batch queue table index event price layer schema filter record asset".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Form:
    """How a language is written: a file, a function in it, and a line of that."""

    ending: str
    file: str
    function: str
    line: str
    spaces: str = "    "


FORMS = (
    Form(
        "py",
        '"""About {name}."""\n\n\n{body}',
        "def {name}(first, second):\n{body}\n    return first\n",
        "first = {call}(second, {number})",
    ),
    Form(
        "js",
        "'use strict';\n\n{body}",
        "function {name}(first, second) {{\n{body}\n  return first;\n}}\n",
        "first = {call}(second, {number});",
        "  ",
    ),
    Form(
        "ts",
        "export const about = '{name}';\n\n{body}",
        "export function {name}(first: number, second: number): number {{\n{body}\n  return first;\n}}\n",
        "first = {call}(second, {number});",
        "  ",
    ),
    Form(
        "go",
        "package {name}\n\n{body}",
        "func {name}(first int, second int) int {{\n{body}\n\treturn first\n}}\n",
        "first = {call}(second, {number})",
        "\t",
    ),
    Form(
        "rs",
        "//! About {name}.\n\n{body}",
        "pub fn {name}(mut first: i64, second: i64) -> i64 {{\n{body}\n    first\n}}\n",
        "first = {call}(second, {number});",
    ),
    Form(
        "java",
        "public class About{name} {{\n\n{body}\n}}\n",
        "    int {name}(int first, int second) {{\n{body}\n        return first;\n    }}\n",
        "first = {call}(second, {number});",
        "        ",
    ),
    Form(
        "c",
        '#include "{name}.h"\n\n{body}',
        "int {name}(int first, int second)\n{{\n{body}\n    return first;\n}}\n",
        "first = {call}(second, {number});",
    ),
    Form(
        "rb",
        "# About {name}.\n\n{body}",
        "def {name}(first, second)\n{body}\n  first\nend\n",
        "first = {call}(second, {number})",
        "  ",
    ),
)


def path_of(number: int) -> str:
    """Where a file stands in the repository."""
    form = FORMS[number % len(FORMS)]
    folder = number // _FILES_PER_FOLDER
    return f"src/part{folder // 20}/{_NOUNS[folder % len(_NOUNS)]}{folder}/{_noun(number)}_{number}.{form.ending}"


def text_of(number: int, changes: Mapping[int, int]) -> str:
    """What a file says, when each of its functions was changed so many times."""
    form = FORMS[number % len(FORMS)]
    functions = (_function(number, at, changes.get(at, 0)) for at in range(functions_in(number)))
    return form.file.format(name=_noun(number), body="\n".join(functions))


@cache
def functions_in(number: int) -> int:
    return random.Random(number).randint(FEWEST_FUNCTIONS, MAX_FUNCTIONS)


def _function(number: int, at: int, times: int) -> str:
    form = FORMS[number % len(FORMS)]
    told = random.Random(f"{number} {at} {times}")
    lines = [
        form.spaces + form.line.format(call=f"{told.choice(_VERBS)}_{told.choice(_NOUNS)}", number=told.randrange(1000))
        for _ in range(random.Random(f"{number} {at}").randint(3, 20))
    ]
    name = f"{_VERBS[(number + at) % len(_VERBS)]}_{_NOUNS[at % len(_NOUNS)]}_{number}"
    return form.function.format(name=name, body="\n".join(lines))


def _noun(number: int) -> str:
    return _NOUNS[number % len(_NOUNS)]
