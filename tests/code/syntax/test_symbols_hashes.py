"""The hash of a body: only what a function says counts, not how it is written down or called."""

import pytest

from claude_mem_lite.code.syntax.symbols import read_symbols

PYTHON = """
@cached(60)
def price(item, count=1):
    total = item.net * count
    return total + 7


class Shop:
    limit = 10

    def buy(self, item):
        return item
"""
TYPESCRIPT = """
function price(item: Item, count: number = 1): number {
  const total = item.net * count;
  return total + 7;
}

@cached(60)
class Shop {
  limit = 10;

  @logged("buy")
  buy(item: Item): Item {
    return item;
  }
}
"""
GO = """
package shop

func Price(item Item, count int) int {
	total := item.Net * count
	return total + 7
}

type Shop struct {
	limit int
}

func (s *Shop) Buy(item Item) Item {
	return item
}
"""
RUST = """
#[inline(always)]
fn price(item: &Item, count: u64) -> u64 {
    let total = item.net * count;
    total + 7
}

#[derive(Debug)]
trait Shop {
    const LIMIT: u64 = 10;

    fn buy(&self, item: Item) -> Item {
        item
    }
}
"""
SOURCES = {"python": PYTHON, "typescript": TYPESCRIPT, "go": GO, "rust": RUST}
Edit = tuple[str, str, str, str]

# language, name, what is replaced, by what
LAYOUT: list[Edit] = [
    ("python", "price", "    return total", "    # with the fee\n\n    return total"),
    ("python", "price", "count\n", "count  # by piece\n"),
    ("python", "price", "(item, count=1)", "(\n    item,\n    count = 1,\n)"),
    ("python", "price", "item.net * count", "item.net*count"),
    ("python", "price", "@cached(60)\n", "@cached( 60 )\n# not long\n"),
    ("python", "Shop", "limit = 10\n", "limit = 10  # at once\n\n"),
    ("typescript", "price", "  return total", "  // with the fee\n\n  return /* all */ total"),
    ("typescript", "price", "(item: Item, count: number = 1)", "(\n    item: Item,\n    count: number = 1,\n  )"),
    ("typescript", "price", "number {\n  const", "number\n{\n\tconst"),
    ("typescript", "Shop.buy", '@logged("buy")\n  buy', '@logged("buy") buy'),
    ("typescript", "Shop", "  limit = 10;", "  /** at once */\n    limit = 10;"),
    ("go", "Price", "\treturn total", "\t// with the fee\n\n\treturn /* all */ total"),
    ("go", "Price", "(item Item, count int)", "(\n\titem Item,\n\tcount int,\n)"),
    ("go", "Price", "item.Net * count", "item.Net*count"),
    ("go", "Shop", "\tlimit int", "\t// at once\n\tlimit   int // pieces"),
    ("rust", "price", "    total + 7", "    // with the fee\n\n    total /* all */ + 7"),
    ("rust", "price", "(item: &Item, count: u64)", "(\n    item: &Item,\n    count: u64,\n)"),
    ("rust", "price", "#[inline(always)]\n", "/// The price.\n#[inline( always )]\n"),
    ("rust", "Shop", "    const LIMIT", "    /// At once.\n    const LIMIT"),
]
MEANING: list[Edit] = [
    ("python", "price", "* count", "/ count"),
    ("python", "price", "total + 7", "total + 8"),
    ("python", "price", "count=1)", "count=2)"),
    ("python", "price", "count=1)", "count=1, tax=0)"),
    ("python", "price", "@cached(60)", "@cached(90)"),
    ("python", "price", "@cached(60)\n", ""),
    ("python", "price", "    return total + 7", "    if total:\n        return total + 7"),
    ("python", "Shop", "limit = 10", "limit = 11"),
    ("python", "Shop", "class Shop:", "class Shop(Base):"),
    ("python", "Shop.buy", "return item", "return not item"),
    ("typescript", "price", "* count", "/ count"),
    ("typescript", "price", "total + 7", "total + 8"),
    ("typescript", "price", "item: Item, count", "item: Item, tax: number, count"),
    ("typescript", "price", "): number", "): bigint"),
    ("typescript", "Shop", "@cached(60)", "@cached(90)"),
    ("typescript", "Shop", "@cached(60)\n", ""),
    ("typescript", "Shop", "limit = 10", "limit = 11"),
    ("typescript", "Shop.buy", '@logged("buy")', '@logged("sell")'),
    ("go", "Price", "* count", "/ count"),
    ("go", "Price", "total + 7", "total + 8"),
    ("go", "Price", "count int)", "count int, tax int)"),
    ("go", "Price", ") int {", ") int64 {"),
    ("go", "Shop", "limit int", "limit int64"),
    ("go", "Shop.Buy", "(s *Shop)", "(s Shop)"),
    ("rust", "price", "* count", "/ count"),
    ("rust", "price", "total + 7", "total + 8"),
    ("rust", "price", "count: u64)", "count: u64, tax: u64)"),
    ("rust", "price", "#[inline(always)]", "#[inline(never)]"),
    ("rust", "price", "#[inline(always)]\n", ""),
    ("rust", "Shop", "#[derive(Debug)]", "#[derive(Clone)]"),
    ("rust", "Shop", "LIMIT: u64 = 10", "LIMIT: u64 = 11"),
]
RENAMES = [
    ("python", "price", "cost"),
    ("python", "Shop", "Market"),
    ("typescript", "price", "cost"),
    ("typescript", "Shop", "Market"),
    ("go", "Price", "Cost"),
    ("go", "Shop", "Market"),
    ("rust", "price", "cost"),
    ("rust", "Shop", "Market"),
]
# of a class, what is replaced in a method of it
METHODS: list[Edit] = [
    ("python", "Shop", "return item", "return [item] * 2"),
    ("python", "Shop", "buy(self, item)", "sell(self, item, count)"),
    ("python", "Shop", "    def buy", "    @logged\n    def buy"),
    ("typescript", "Shop", "return item", "return undo(item)"),
    ("typescript", "Shop", "buy(item: Item)", "sell(item: Item, count: number)"),
    ("typescript", "Shop", '@logged("buy")', "@quiet()"),
    ("go", "Shop", "return item", "return undo(item)"),
    ("go", "Shop", "Buy(item Item)", "Sell(item Item, count int)"),
    ("rust", "Shop", "        item\n", "        undo(item)\n"),
    ("rust", "Shop", "fn buy(&self, item: Item)", "fn sell(&self, item: Item, count: u64)"),
]


def hash_in(text: str, language: str, name: str) -> str:
    found = read_symbols(text, language)
    assert found is not None
    return {one.name: one.body for one in found}[name]


def edited(language: str, old: str, new: str) -> str:
    assert SOURCES[language].count(old) == 1
    return SOURCES[language].replace(old, new)


@pytest.mark.parametrize(("language", "name", "old", "new"), LAYOUT)
def test_comments_spaces_and_line_breaks_do_not_change_a_hash(language: str, name: str, old: str, new: str) -> None:
    assert hash_in(edited(language, old, new), language, name) == hash_in(SOURCES[language], language, name)


@pytest.mark.parametrize(("language", "name", "old", "new"), MEANING)
def test_an_operator_a_literal_a_parameter_or_a_decorator_changes_a_hash(
    language: str, name: str, old: str, new: str
) -> None:
    assert hash_in(edited(language, old, new), language, name) != hash_in(SOURCES[language], language, name)


@pytest.mark.parametrize(("language", "name", "new"), RENAMES)
def test_another_name_does_not_change_a_hash(language: str, name: str, new: str) -> None:
    renamed = SOURCES[language].replace(name, new)
    assert hash_in(renamed, language, new) == hash_in(SOURCES[language], language, name)


@pytest.mark.parametrize(("language", "name", "old", "new"), METHODS)
def test_what_changes_in_a_method_does_not_change_the_class(language: str, name: str, old: str, new: str) -> None:
    assert hash_in(edited(language, old, new), language, name) == hash_in(SOURCES[language], language, name)


@pytest.mark.parametrize("language", SOURCES)
def test_a_function_that_calls_itself_may_be_renamed_with_its_calls(language: str) -> None:
    name = "Price" if language == "go" else "price"
    recursive = SOURCES[language].replace("+ 7", f"+ {name}(item, 7)")
    renamed = recursive.replace(name, f"{name}Of")
    assert hash_in(renamed, language, f"{name}Of") == hash_in(recursive, language, name)
    assert hash_in(recursive, language, name) != hash_in(SOURCES[language], language, name)
