"""What a sentence says of the program that is being made, and not of the work on it: "never show the banner twice"."""

from claude_mem_lite.patterns import lazy

# What people see and touch on a screen. A rule of the work names what is written, run or committed.
_SURFACE = lazy(
    r"\b(?:buttons?|modals?|dialogs?|banners?|footers?|sidebar|navbar|menus?|labels?|tooltips?|spinners?|icons?|logos?"
    r"|layout|padding|margins?|borders?|background|fonts?|colou?rs?|screen|mobile|hover|clicks?|scroll\w*|popups?"
    r"|tabs? bar"
    r"|dropdowns?|checkbox(?:es)?|placeholder|thumbnails?|carousel|landing page|homepage|login page|dark mode|red"
    r"|green|blue"
    r"|gr[ae]y|pixels?|px|decimals|rows?|visitors?|guests?|refresh"
    r"|schaltfläche|knopf|farbe|überschrift|spalte|links sein|rechts sein)\b|按钮|标题|页面|价格|颜色|红色|蓝色"
    r"|绿色|显示|左边|右边|弹窗"
)
_OF_THE_WORK = lazy(
    r"\b(?:components?|css|tailwind|class(?:es)?|code|files?|tests?|imports?|commits?|inline|markup|librar\w+"
    r"|hooks?|docstrings?"
    r"|comments?|readme|docs?|functions?|modules?|types?|branch(?:es)?|prs?|sql|schema|migrations?|license|names?"
    r"|spelled|code ?base|repo)\b|[\w-]+/[\w-]+"
)
_ITS_DEED = lazy(
    r"(?:(?:never|always|don't|do not|only) )(?:show|render|display|hide|redirect|scroll|reload|animate|blink"
    r"|log (?:out|in)"
    r"|send (?:mails?|e-?mails?|notifications?))\b(?! me\b| us\b)"
)
_ITS_PEOPLE = lazy(
    r"(?:all|every|each|any|new|the|our) (?:[\w-]+ )?(?:users?|customers?|visitors?|guests?|admins?|members?|items?"
    r"|products?"
    r"|orders?|invoices?|accounts?|rows?|fields?) (?:must|has|have|should|needs?|shall|may)\b"
)


def is_of_the_program(text: str) -> bool:
    """Whether a sentence in lower case tells how the program shall look or behave."""
    if _ITS_DEED.match(text) or _ITS_PEOPLE.match(text):
        return True
    return _SURFACE.search(text) is not None and _OF_THE_WORK.search(text) is None
