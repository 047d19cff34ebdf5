"""Proposal of a guard from a sentence of the user, for sure lessons and for rules given with `remember`.

A form must fit the whole sentence, and each named thing must be known. A condition, a question or a wish for one task
gives no proposal: the match would not know when it holds."""

from claude_mem_lite.guards.guard import Example, Proposal
from claude_mem_lite.guards.matching import example_call, matched
from claude_mem_lite.guards.named_things import (
    Code,
    agent_tool,
    branches_named,
    commands_named,
    modules_named,
    paths_named,
    rivals_named,
    trimmed,
    without_end,
)
from claude_mem_lite.guards.programs import GROWING_FOLDERS, HARMLESS, NOT_READING, PROGRAMS, TEST_RUNNERS
from claude_mem_lite.guards.rule import SHELL_TOOL, Rule
from claude_mem_lite.hook.guard_match import FILTERING, FILTERS, LINKED
from claude_mem_lite.knowledge.claims.claim_patterns import FORMS
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import STOPWORDS, one_line

MAX_SENTENCE_LENGTH = 240
EDIT_TOOL = "Write"
_ROOT = "/project"
_ONLY = lazy(r"(?i)^(?:(?:always|only|just|rather)\s+)+|\s+(?:only|instead)$")
_LAST_ONLY = lazy(r"(?i)\s+only$")
_BRACKETED = lazy(r"(?i)\s*\(((?:and )?(?:not|never|instead of|rather than) [^()]+)\)")
_NAME = lazy(r"[\w@./:+-]*[\w@./+-](?: [\w@./:+*-]+){0,3}")
_POLITE = lazy(r"(?i)(?:[\s,;.!–—-]+(?:please|pls|plz|ok|okay|thanks|thank you|thx)\b[.!?]*)+$")
_CODE = lazy(r"`([^`]+)`")
_REASON = lazy(
    r"(?i)[\s,;.:(–—-]+(?:because|since|as (?:it|they|we|this|that)|so that|otherwise|to avoid|it(?:'s| \w+s\b"
    r"| will| would)|they(?:'re| are| will)|that(?:'s| is| breaks)|this (?:is|breaks)"
    r"|weil|denn|sonst|damit)\b.*$|\s*[,;.–—-]\s*(?:we\s|you(?:'ve| have| had| lost| broke| did| \w+ed)\s).*$"
    r"|\s*\([^()]*\)\s*$"
)
_CONDITION = lazy(
    r"(?i)\b(?:unless|except|if|when|whenever|while|until|till|before|after|once|during|without|yet|today|tonight"
    r"|tomorrow|this time|for now|right now|just now|at the moment|first|only (?:if|when|after|in|for|on)|as long as"
    r"|in (?:prod|production|staging|ci|tests?|dev|development|this (?:pr|branch|session|task|commit|file|case))"
    r"|on (?:ci|prod|production|windows|macos|linux)|more than|too (?:much|many|often)|so (?:much|many|often)"
    r"|for (?:this|that) (?:pr|branch|session|task|one|change|commit)|necessary|needed|asked|permission|approval"
    r"|wenn|falls|außer|ohne|bevor|nachdem|solange|heute|vorerst|erst)\b|除非|如果|之前|之后|[?？]|吗"
)
_LEAD = lazy(
    r"(?i)^(?:(?:please|pls|plz|no(?=[,.!:])|nope|ok|okay|hey|hey claude|claude|and|also|but|so|again"
    r"|(?:can|could|would) you(?=\s+(?:please\s+|pls\s+)?(?:stop|not|never|always)\b)"
    r"|this (?:repo|project|codebase|repository)(?=\s+uses\b)"
    r"|you(?! keep\b)|remember(?: that)?|remember to|note(?: that)?|reminder|important|rule|always|from now on"
    r"|going forward|in the future|here|we"
    r"|just|in this (?:repo|project|codebase|repository)|i (?:said|told you)(?: to)?|make sure (?:to|you)|be sure to"
    r"|should|must|need to|have to|let's|the rule is|for this project|as a rule|in general|for all projects|nein"
    r"|bitte|ab jetzt|immer|wir|hier)(?:\s*[,:!.–—-]+\s*|\s+))+"
)
_NOT = (
    r"(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|cannot|can't|stop|quit|avoid|no longer"
)
_NOT += r"|not)(?:\s+(?:ever|to|directly|manually))*"
_RUN = r"(?P<{}>run|running|call|calling|invoke|invoking|execute|executing|use|uses|using|start|starting|do|doing"
_RUN += r"|type|try)"
_SEPARATOR = (
    r"(?:\s*[,;.:–—]+\s*|\s+-+\s+|\s+)(?:but\s+|and\s+)?(?:please\s+|always\s+|just\s+|only\s+|rather\s+|we\s+)*"
)
_TAKE = r"(?:use|run|using|go with|prefer|call|do|stick to|stick with|go through|import)\s+"
_TOUCH = r"(?:touch|touching|mess with|write to|write in|writing to|create files in|add files to|put files in"
_TOUCH += r"|put anything in|add anything to)"
_EDIT = r"(?:edit|modify|change|alter|overwrite|update|hand-edit|reformat|format|patch|editing|modifying|changing"
_EDIT += r"|overwriting|updating)"
_PUSH = r"(?P<push>push|commit|merge)(?:ing|ting|ting)?"
_PAUSE = r"(?:\s*[,;.:–—]+|\s+-+)\s+"
_BESIDE = rf"{_SEPARATOR}(?:not|never|instead of|rather than|{_NOT}\s+{_RUN.format('verb')})\s+(?P<beside>.+)"
_TESTS = r"(?:(?:the|all|our|unit|python|go|js)\s+)*(?:unit )?tests?(?: suite)?"
_FORMS = tuple(
    lazy(form)
    for form in (
        rf"(?i){_NOT}\s+{_RUN.format('run')}\s+(?P<drop>.+?){_SEPARATOR}{_TAKE}(?P<take>.+)",
        rf"(?i){_NOT}\s+{_RUN.format('run')}\s+(?P<drop>.+)",
        rf"(?i)run\s+{_TESTS}\s+(?:with|via|using|through|by running|by)\s+(?P<tests>.+?)"
        rf"(?:{_BESIDE})?",
        rf"(?i)(?:for|to run)\s+{_TESTS},?\s+(?:always\s+)?(?:use|run|call)\s+(?P<tests>.+?)(?:{_BESIDE})?",
        rf"(?i){_TESTS}:\s+(?:(?:always\s+)?(?:use|run)\s+)?(?P<tests>.+?){_BESIDE}",
        rf"(?i)(?:use|run)\s+(?P<tests>.+?)\s+(?:to run|for running|to execute|for)\s+{_TESTS}",
        rf"(?i){_TESTS}\s+(?:are|must be|should be|have to be|get)\s+run\s+(?:with|via|using|through)\s+(?P<tests>.+)",
        rf"(?i)(?:{_RUN.format('run')}|go through|stick to)\s+(?P<take>.+?){_SEPARATOR}"
        rf"(?:instead of|rather than|over|in place of|{_NOT})\s+"
        rf"(?:{_RUN.format('verb')}\s+)?(?P<drop>.+)",
        rf"(?i)instead of\s+(?:{_RUN.format('run')}\s+)?(?P<drop>.+?){_SEPARATOR}{_TAKE}(?P<take>.+)",
        rf"(?i){_NOT}\s+(?:{_TOUCH}|(?P<edit>{_EDIT}))\s+(?P<path>.+)",
        r"(?i)(?:leave\s+(?P<path>.+)\s+alone|keep (?:your )?hands off\s+(?P<off>.+))",
        r"(?i)(?P<path>.+?)\s+(?:is|are)\s+(?:off[- ]limits|read-only|not to be (?:edited|touched|changed|modified))",
        r"(?i)(?P<path>.+?)\s+(?:must|should|may) (?:not|never) be (?:edited|touched|changed|modified|written)",
        rf"(?i){_NOT}\s+(?:import|importing|require|requiring)\s+(?P<module>.+?)(?:{_SEPARATOR}{_TAKE}(?P<take>.+))?",
        rf"(?i)import\s+(?P<take>.+?){_SEPARATOR}(?:instead of|rather than|not|never)\s+(?P<module>.+)",
        rf"(?i){_NOT}\s+{_PUSH}\s+(?:(?:directly|straight|anything|code|changes)\s+)*(?:to|on|onto|into|in)\s+"
        r"(?P<branch>.+)",
        r"(?i)no\s+(?:direct\s+)?(?P<push>push|commit|merge)(?:e?s|ing|ting)?\s+(?:to|on|onto|into)\s+(?P<branch>.+)",
        rf"(?i){_NOT}\s+(?:add|commit|check in|stage)\s+(?P<added>.+)",
        rf"(?i)no(?: more)?\s+(?P<drop>.+?)(?:{_SEPARATOR}{_TAKE}(?P<take>.+))?",
        rf"(?i){_NOT}\s+(?P<drop>(?:force|amend|rebase|squash|push|skip|bypass|reset|hard|merge|open|create|stash)\b.*)",
        rf"(?i)(?P<drop>.+?)\s+(?:is|are)\s+(?:forbidden|banned|not allowed)(?:\s+here)?"
        rf"(?:{_SEPARATOR}{_TAKE}(?P<take>.+))?",
        r"(?i)(?P<path>.+?)\s+(?:is|are)\s+(?:forbidden|not allowed) to (?:touch|edit|change)",
        r"(?i)(?P<drop>.+?)\s+(?:must|should|may) (?:not|never) be (?:run|used|called|executed)",
        rf"(?i)only\s+(?P<rival>[\w-]+)(?:\s+here)?{_PAUSE}(?:no|not|never)\s+(?P<drop>.+)",
        rf"(?i){_NOT}\s+(?P<drop>.+)",
        r"(?i)(?P<take>[\w-]+),?\s+(?:not|statt|instead of)\s+(?P<drop>[\w-]+)",
        rf"(?i)(?:{_NOT}\s+{_RUN.format('run')}|no(?: more)?)\s+(?P<drop>.+?){_PAUSE}(?P<rival>[\w-]+)"
        r"\s+(?:only|instead)",
        rf"(?i){_NOT}\s+{_RUN.format('run')}\s+(?P<drop>.+?){_PAUSE}(?:always|only)\s+(?P<rival>[\w-]+)",
        rf"(?i)(?:use\s+)?(?P<rival>[\w-]+)\s+only{_PAUSE}(?:no|not|never)\s+(?P<drop>.+)",
        rf"(?i)you keep(?: on)?\s+{_RUN.format('run')}\s+(?P<drop>.+?){_PAUSE}{_TAKE}(?P<rival>.+)",
        rf"(?i){_NOT}\s+(?:skip|bypass|commit|push|merge)(?:p?ing|ting)?(?:\s+(?:the|any|git|pre-commit|hooks?|checks?))*"
        r"\s+(?:with|using|via)\s+(?P<drop>--[\w-]+)",
        # German and Chinese.
        r"(?i)nicht\s+(?P<drop>.+?),?\s+sondern\s+(?P<take>.+)",
        r"(?:不要|别|不再)用\s*(?P<drop>[\w.+-]+)\s*[,，;；]\s*(?:请)?(?:改)?用\s*(?P<take>[\w.+-]+)",
        r"(?i)(?P<take>\S+)\s+(?:statt|anstatt|anstelle von)\s+(?P<drop>.+?)\s+(?:verwenden|nutzen|benutzen|nehmen)",
        r"(?i)(?:verwende|nutze|benutze|nimm)\s+(?:nie|niemals|keine?n?|nicht)\s+(?P<drop>.+)",
        r"(?i)(?:nie|niemals|nicht)\s+(?:direkt\s+)?(?:auf|nach|in|zu)\s+(?P<branch>\S+)\s+(?P<push>push|commit)(?:t?en)",
        r"(?i)(?P<path>.+?)\s+(?:nie|niemals|nicht)\s+(?:anfassen|ändern|bearbeiten|editieren)",
        r"(?i)(?:nie|niemals)\s+(?P<path>.+?)\s+(?:anfassen|ändern|bearbeiten|editieren)",
        r"(?i)(?:fass|fasse|ändere|bearbeite|editiere)\s+(?P<path>.+?)\s+(?:nie|niemals|nicht)(?:\s+an)?",
        r"(?i)tests\s+(?:immer\s+|nur\s+)?mit\s+(?P<tests>.+?)\s+(?:ausführen|laufen lassen|starten)",
        r"(?i)(?:nie|niemals)\s+(?P<drop>.+?)\s+(?P<run>ausführen|benutzen|verwenden|nutzen|starten)",
        r"(?i)keine?n?\s+(?P<drop>.+?)(?:\s+(?:benutzen|verwenden|nutzen|machen))?",
    )
)
# Things beside the value and its rival: a claim with one holds for a part of the work only.
_NARROWING = ("about", "object", "role", "kept", "cached")
_OTHER_FOLDER = "elsewhere"


def propose(sentence: str) -> Proposal | None:
    """Return the guard that a rule of the user asks for; None if it names nothing that a match can decide."""
    reason = one_line(sentence)
    if not reason or len(reason) > MAX_SENTENCE_LENGTH:
        return None
    written = reason.replace("’", "'").replace(" bitte ", " ")
    code = frozenset(one_line(span) for span in _CODE.findall(written))
    spoken = _POLITE.sub("", written.strip(' "“”«»'))
    plain = without_end(_BRACKETED.sub(r", \1", _CODE.sub(r"\1", spoken)).strip(' "“”«»'))
    for text in dict.fromkeys((plain, without_end(_REASON.sub("", plain)))):
        if _CONDITION.search(text):
            continue
        for groups in _read(_LEAD.sub("", text)):
            for rule, instead in _rules(groups, code):
                if proposal := _proved(rule, reason, instead):
                    return proposal
    return None


def _read(text: str) -> list[dict[str, str]]:
    """Return the parts of a sentence by each form that fits the whole of it; forms of claims come last."""
    fitting = [found.groupdict() for form in _FORMS if (found := form.fullmatch(text))]
    for form in FORMS:
        found = form.match(text)
        if found and found.end() == len(text) and found.groupdict().get("drop"):
            fitting.append(found.groupdict())
    parts = [{name: part for name, part in groups.items() if part} for groups in fitting]
    return [groups for groups in parts if not any(groups.get(name, "").strip() for name in _NARROWING)]


def _rules(groups: dict[str, str], code: Code) -> list[tuple[Rule, str]]:
    if "rival" in groups and not rivals_named(groups["rival"], code):
        return []  # beside a word that is no program, the sentence may be about something else
    take = _named(trimmed(groups.get("take") or groups.get("rival", "")), code)
    instead = f"use {take}" if take else ""
    if named := groups.get("path") or groups.get("off"):
        paths = paths_named(named, code)
        is_edit = "edit" in groups and any(path.strip("/").split("/")[-1] in GROWING_FOLDERS for path in paths)
        return [(Rule(paths=paths), instead)] if paths and not is_edit else []
    if named := groups.get("module"):
        return [(Rule(imports=modules), instead)] if (modules := modules_named(named, code)) else []
    if named := groups.get("branch"):
        branches = branches_named(named, code)
        return [(Rule(commands=(f"git {groups['push'].lower()}",), branches=branches), "")] if branches else []
    if named := groups.get("added"):
        return _added(named, code)
    if named := groups.get("tests"):
        return _tests(named, groups.get("beside", ""), code)
    return _commands(groups, take, code) if "drop" in groups else []


def _named(take: str, code: Code) -> str:
    """Return what a sentence recommends if it is a name; '' for the words of another sentence."""
    if tool := agent_tool(take):
        return f"the {tool.capitalize()} tool"
    is_task = take.startswith("just ") and take.split()[1] not in PROGRAMS  # `just test`, but not "just pnpm"
    take = take if take in code or is_task else _ONLY.sub("", take)
    words = take.split()
    is_name = bool(_NAME.fullmatch(take)) and words[0].lower() not in STOPWORDS and words[-1].lower() not in STOPWORDS
    return take if take in code or is_name or rivals_named(take, code) else ""


def _commands(groups: dict[str, str], take: str, code: Code) -> list[tuple[Rule, str]]:
    """Return the rule against a command, with what to run instead."""
    is_run = groups.get("run", "use").lower() not in ("use", "uses", "using", "do", "doing", "try")
    tool = agent_tool(take)
    rivals = rivals_named(take, code) if take else ()
    drops = commands_named(groups["drop"], code, has_rival=bool(tool or rivals), is_run=is_run)
    if not drops:
        return []
    if tool:
        drops = tuple("sed -i" if tool == "edit" and drop == "sed" else drop for drop in drops)
        unread = tuple(one for drop in drops for one in NOT_READING.get(drop, ())) if tool == "read" else ()
        return [(Rule(commands=drops, excepts=(LINKED, *unread)), f"use {take}")]
    excepts = tuple(_exempted(rival, drops) for rival in rivals if _exempted(rival, drops))
    filtering = (FILTERING,) if rivals and any(drop in FILTERS for drop in drops) else ()
    excepts = (*excepts, *_harmless(drops), *filtering)
    return [(Rule(commands=drops, excepts=excepts), f"use {take}" if take else "")]


def _harmless(drops: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for drop in drops for one in HARMLESS.get(drop, ()))


def _exempted(rival: str, drops: tuple[str, ...]) -> str:
    """Return the part of an alternative that must be left alone: `uv run` of `uv run pytest` if `pytest` is dropped,
    `npm run test` if `npm` is; '' if the alternative has nothing in common with what is dropped."""
    for drop in drops:
        if rival.startswith(drop + " "):
            return rival
        if rival.endswith(" " + drop):
            return rival.removesuffix(" " + drop)
    return ""


def _tests(named: str, beside: str, code: Code) -> list[tuple[Rule, str]]:
    """Return the rule against programs that run tests by themselves, except by the given command."""
    given = rivals_named(_LAST_ONLY.sub("", named), code)
    if len(given) != 1 or (given[0] in PROGRAMS and not any(given[0] in group for group in TEST_RUNNERS)):
        return []  # `git` or `uv` alone run no tests
    bare = commands_named(beside, code, has_rival=True, is_run=True) if beside else _runners_beside(given[0])
    if not bare:
        return []
    wrapped = next((given[0].removesuffix(f" {one}") for one in bare if given[0].endswith(f" {one}")), "")
    runners = tuple(one for one in bare if one != given[0])
    return [(Rule(commands=runners, excepts=(wrapped or given[0],)), f"use {given[0]}")]


def _runners_beside(given: str) -> tuple[str, ...]:
    """Return the programs that run tests in the language of a command, or of all languages."""
    own = [group for group in TEST_RUNNERS if any(f" {given}".endswith(f" {one}") for one in group)]
    return tuple(one for group in own or TEST_RUNNERS for one in group)


def _added(named: str, code: Code) -> list[tuple[Rule, str]]:
    paths = paths_named(named, code)
    return [(Rule(commands=("git add", "git commit"), arguments=paths), "")] if paths else []


# Examples.


def _proved(rule: Rule, reason: str, instead: str) -> Proposal | None:
    """Return the proposal with an example that fires and one that passes; None if no such examples are found."""
    fires = next((one for one in _firing(rule) if _fires(rule, one)), None)
    passes = next((one for one in _passing(rule, instead) if not _fires(rule, one)), None)
    return Proposal(rule, reason, instead, fires, passes) if fires and passes else None


def _fires(rule: Rule, example: Example) -> bool:
    return bool(matched(rule, example_call(example, _ROOT)))


def _firing(rule: Rule) -> list[Example]:
    if rule.paths:
        pattern = rule.paths[0].replace("**/", "").replace("*", "example")
        is_folder = "." not in pattern.rstrip("/").rpartition("/")[2]
        return [Example(EDIT_TOOL, f"{pattern.strip('/')}/example.txt" if is_folder else pattern.lstrip("/"))]
    if rule.imports:
        return [Example(EDIT_TOOL, text.format(rule.imports[0])) for text in ("import {}", 'import x from "{}"')]
    lead = rule.commands[0]
    if rule.branches:
        on = f"git checkout {rule.branches[0]} && " if "push" not in lead else ""
        return [Example(SHELL_TOOL, f"{on}{lead}" if on else f"{lead} origin {rule.branches[0]}")]
    words = [lead, *rule.flags[:1], *(one.replace("*", "example") for one in rule.arguments[:1])]
    return [Example(SHELL_TOOL, " ".join(words))]


def _passing(rule: Rule, instead: str) -> list[Example]:
    if rule.paths:
        return [Example(EDIT_TOOL, f"{_OTHER_FOLDER}/{name}") for name in ("example.txt", "example.md")]
    if rule.imports:
        taken = instead.removeprefix("use ")
        return [Example(EDIT_TOOL, f"import {name}") for name in (taken, "something_else") if name]
    mention = f"echo '{_firing(rule)[0].text}'"
    given = [instead.removeprefix("use ")] if instead and not agent_tool(instead.removeprefix("use ")) else []
    if rule.branches:
        given = ["git push origin some-feature", "git checkout -b some-feature && git commit"]
    return [Example(SHELL_TOOL, text) for text in (*given, mention)]
