"""What a part must be like, whatever it shows: whole, without script or style, and clear to a screen reader."""

from html.parser import HTMLParser

_ALONE = ("input", "br", "meta", "link", "img", "hr")
_FIELDS = ("input", "select", "textarea", "meter")


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.labelled: set[str] = set()
        self.unlabelled: list[str] = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look(tag, dict(attrs))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._look(tag, dict(attrs))
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.found.append(f"</{tag}> closes something else")

    def _look(self, tag: str, given: dict[str, str | None]) -> None:
        if tag in ("script", "style", "iframe", "object"):
            self.found.append(f"<{tag}>")
        self.found += [f"{name} of <{tag}>" for name in given if name == "style" or name.startswith("on")]
        if tag == "th" and "scope" not in given:
            self.found.append("<th> without scope")
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(int(tag[1]))
        if id_ := given.get("id"):
            self.ids.append(id_)
        if tag == "label" and given.get("for"):
            self.labelled.add(str(given["for"]))
        is_named = "label" in self.open or bool(given.get("aria-label"))
        if tag in _FIELDS and given.get("type") != "hidden" and not is_named:
            self.unlabelled.append(str(given.get("id")))


def faults(html: str) -> list[str]:
    """What is wrong with a part; a part of a page may begin with any heading."""
    reading = _Reading()
    reading.feed(html)
    reading.close()
    found = reading.found + [f"<{tag}> is never closed" for tag in reading.open]
    found += [f"the field {id_} has no label" for id_ in reading.unlabelled if id_ not in reading.labelled]
    found += [f"two have the id {id_}" for id_ in sorted({one for one in reading.ids if reading.ids.count(one) > 1})]
    steps = zip(reading.headings, reading.headings[1:], strict=False)
    found += [f"h{after} after h{before}" for before, after in steps if after > before + 1]
    return found
