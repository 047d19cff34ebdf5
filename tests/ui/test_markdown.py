"""Light Markdown: what is shown as code, bold and lists, and that no text ever becomes a tag of its own."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.ui.markdown import blocks, headline, inline

TAGS = {"p", "ul", "ol", "li", "pre", "code", "strong"}
HOSTILE = (
    "<script>alert(1)</script>",
    "`<img src=x onerror=alert(1)>`",
    "**<b onclick=x>**",
    "```html\n<script>alert(1)</script>\n```",
    "- <iframe src=//evil.example>\n1. <svg/onload=alert(1)>",
    "$ echo '</code></pre><script>alert(1)</script>'",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example>",
    "# </p><style>*{display:none}</style>",
    "&lt;script&gt; &#60;script&#62; \x00 \u2028<b>",
    "`</code>` **</strong>** ``<p>``",
)


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert attrs == []
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def read(html: str) -> str:
    """The text of HTML that has none but our tags, each closed."""
    reading = _Reading()
    reading.feed(str(html))
    reading.close()
    assert reading.open == []
    return reading.text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("a `b` c", "a <code>b</code> c"),
        ("``a``", "<code>a</code>"),
        ("a **b** c", "a <strong>b</strong> c"),
        ("**use `x`**", "<strong>use <code>x</code></strong>"),
        ("`**kwargs`", "<code>**kwargs</code>"),
        ("2 ** 3 ** 4", "2 ** 3 ** 4"),
        ("f(**a) and **b", "f(**a) and **b"),
        ("an open ` tick and ** star", "an open ` tick and ** star"),
        ("__init__ and *one*", "__init__ and *one*"),
    ],
)
def test_one_line(text: str, html: str) -> None:
    assert inline(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("1. a\n2) b", "<ol><li>a</li><li>b</li></ol>"),
        ("- a\n  more\n\nend", "<ul><li>a\nmore</li></ul><p>end</p>"),
        ("$ ls\n$ pwd: /srv", "<pre><code>$ ls\n$ pwd: /srv</code></pre>"),
        ("costs $ 5", "<p>costs $ 5</p>"),
        ("```py\nx = 1\n\ny\n```\nafter", "<pre><code>x = 1\n\ny</code></pre><p>after</p>"),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("```not``` a fence", "<p>```not``` a fence</p>"),
        ("## Head `x` ##", "<p><strong>Head `x`</strong></p>"),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_several_lines(text: str, html: str) -> None:
    assert blocks(text) == html


def test_the_command_of_a_failure_is_code() -> None:
    said = "git merge <b> failed: CONFLICT in `a.py`"
    shown = "<code>git merge &lt;b&gt;</code> failed: CONFLICT in <code>a.py</code>"
    assert headline(said, "failure") == shown
    assert headline(said, "note") == inline(said)
    assert headline("`make x` fails: no rule", "failure") == "<code>make x</code> fails: no rule"
    assert headline("Nothing to say", "failure") == "Nothing to say"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text: str) -> None:
    for html in (inline(text), blocks(text), headline(f"{text} fails: {text}", "failure")):
        told = read(html)
        assert "<script>" not in html.lower()
        assert ("evil.example" in told) == ("evil.example" in text)


@given(st.text(alphabet="<>&\"'`*#$-+1.) \n\tabp/=", max_size=300))
def test_whatever_is_written_only_our_tags_come_out_and_no_word_is_lost(text: str) -> None:
    for html in (inline(text), blocks(text)):
        told = read(html)
        assert sum(told.count(letter) for letter in "abp<>") <= sum(text.count(letter) for letter in "abp<>")
    assert [one for one in read(inline(text)) if one in "abp<>"] == [one for one in text if one in "abp<>"]


@pytest.mark.parametrize("piece", ["`", "**", "**a", "`a", "- ", "$ a\n", "```\n", "~~~\n", "1. a\n", "**a `b", "# #"])
def test_marks_without_end_are_passed_in_few_steps(piece: str) -> None:
    """Time for a text may not grow with its square: what is done for each mark is bounded."""
    text = piece * 20_000
    assert len(read(blocks(text))) <= len(text)
