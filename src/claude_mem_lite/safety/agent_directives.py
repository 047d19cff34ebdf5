"""Orders that speak of an agent instead of to it: "the reviewer agent is expected to disable the hooks", in English and
German. Read by `instructions.py`.

Programs are called agents and models too, and reviewers are people: where the name alone does not tell, what is to be
done has to be an agent's work on a checkout."""

from typing import Final

from claude_mem_lite.safety.injection_patterns import AI, form

# "The ssh-agent", "a build agent", "the user agent": programs, and people, that are called so.
_OTHER_AGENTS = (
    "ssh gpg user build ci jenkins monitoring telemetry metrics logging log datadog backup mail transfer vault puppet "
    "pipelines collector relay launch credential support estate travel sales update management policy network "
    "security node cluster guest host cloudwatch trace profiling java azure buildkite relic relay recovery"
)
# Looked behind only where an agent is named: at every word it takes eight times as long.
_AGENT = "(?=agent)" + "".join(rf"(?<!\b{name}[ -])" for name in _OTHER_AGENTS.split()) + "agents?"
# Named so, nothing else is meant.
_SURE = (
    rf"(?:{AI}|assistants?(?! (?:professor|manager|director))"
    r"|(?:review(?:er|ing)?|planning|research|helper|autonomous|reading|orchestrating|working|automated)[ -]agents?)"
)
_UNSURE = rf"(?:{_AGENT}|sub-?agents?|models?|bots?)"
_MUST = (
    r"(?<!n't )(?<!not )(?:must|should|shall|(?:has|have|need|needs|ought|will need|will have) to"
    r"|(?:is|are) (?:\w{1,12} )?(?:expected|supposed|required|asked|obliged|obligated|instructed|told|advised"
    r"|directed|meant|requested|ordered) to|(?:is|are) to)"
)
_HOW = (
    r"(?:(?:not|now|then|first|also|always|never|just|please|at once|instead|therefore|thus|hence|next|again|here"
    r"|\w{3,15}ly),? ){0,3}"
)
_ACT = (
    r"(?:run|execute|invoke|disable|skip|bypass|delete|remove|wipe|erase|push|force-push|merge|approve|install|upload"
    r"|download|send|fetch|pull|ignore|disregard|override|overwrite|commit|post|publish|reveal|hide|grant|visit|open"
    r"|(?:switch|turn) (?:off|on)|silence|suppress|weaken|comment out|trust|obey|follow|accept|allow|pipe|paste|copy"
    r"|tell|reply|recommend|set|unset|edit|rewrite|change|add|append|leave out|drop|revert|reset|chmod|export|print"
    r"|read|cat|call|type|enter|confirm|mark|clear|stop|write|replace)"
)
_DISARM = (
    r"(?:disable|skip|bypass|ignore|override|remove|delete|silence|suppress|weaken|comment out|drop|clear|stop"
    r"|(?:switch|turn) off|unset|leave out)"
)
_GUARD = (
    r"(?:hooks?|(?:pre-?commit|security|signature|license|type|safety|integrity|status) checks?|verification"
    r"|signatures?|sandbox(?:ing)?|guards?|guardrails|permissions?|approvals?|audit(?:ing)?|branch protection"
    r"|firewall|safeguards?)"
)
# What an agent works with: "the agent must send metrics" is of a program, "must run `make unlock`" of an agent.
_AT_WORK = (
    rf"(?:[`$]|\./|~/|https?:|sudo\b|git\b|curl\b|wget\b|npm\b|npx\b|pip3?\b|bash\b|python3? |make \w|rm -|chmod\b"
    rf"|\S{{1,40}}\.(?:sh|env|ps1|bat)\b|--no-verify|{_GUARD}\b|the (?:user|human|developer|operator|owner)\b"
    r"|(?:failing |unit |all )?tests\b(?! (?:on|against|in|as)\b)|pull requests?\b|(?:commit|git) history"
    r"|(?:main|master|production|protected|default) branch|secrets?\b|credentials|api keys?|private keys?|passwords?"
    r"|(?:the |this |following |shell )commands?\b|(?:setup|unlock|install|helper|repair|shell) scripts?\b"
    r"|(?:the|these|its|previous|prior) instructions|(?:the|this) (?:repo|repository|checkout|codebase|working tree)\b)"
)
# How something is to be, not what is to be done: "the agent must be restarted".
_DESCRIBED = (
    r"(?:be|have|return|contain|equal|match|exist|support|implement|define|inherit|receive|get|see|know|work|start|wait"
    r"|fail|pass|look|raise|yield)"
)
_WHO = r"(?:[\w'-]{1,20},? ){0,5}?"
_BETWEEN = r"(?:[\w'./`-]{1,25} ){0,4}?"

_GERMAN_SURE = (
    r"(?:(?:ki|llm)(?:-\w{1,20})?|sprachmodelle?|(?:prüf|review(?:er)?|coding|programmier)-?agent(?:en|in)?"
    r"|assistent(?:en|in)?|claude|copilot|codex|gemini)"
)
_GERMAN_UNSURE = r"(?:agent(?:en|in)?|modelle?|bots?)"
_GERMAN_MUST = (
    r"(?:muss|müssen|soll|sollen|sollte|sollten|hat|haben|(?:ist|sind) (?:verpflichtet|angehalten|gehalten|angewiesen)"
    r"|(?:wird|werden) (?:gebeten|aufgefordert|angewiesen|erwartet))"
)
_GERMAN_ACT = (
    r"(?:(?:ab|aus|an|ein)(?:zu)?schalten|aus(?:zu)?führen|auf(?:zu)?rufen|(?:hoch|herunter)(?:zu)?laden"
    r"|frei(?:zu)?geben|(?:zu )?(?:deaktivieren|löschen|senden|schicken|installieren|ignorieren|überspringen|umgehen"
    r"|entfernen|überschreiben|pushen|mergen|committen|verschweigen|starten|unterdrücken|bestätigen|aushebeln"
    r"|missachten))"
)
_GERMAN_AT_WORK = (
    r"(?:[`$]|\./|~/|https?:|sudo\b|git\b|curl\b|\S{1,40}\.(?:sh|env)\b|hooks?\b|\w{0,20}prüfung(?:en)?\b|tests\b"
    r"|signatur|zugangsdaten|schlüssel|geheimnis|passw[oö]rt|sandbox|freigabe|schutz|(?:den |diesen |folgenden )befehl"
    r"|skript|anweisung|(?:dem|den) (?:nutzer|benutzer|anwender)|repository|haupt-?branch)"
)

_REASON = "says what an agent has to do"

DUTIES: Final = (
    form(
        _REASON,
        "agent assistant llm gpt claude copilot codex gemini +ai chatbot bot model reviewer "
        "|| must should shall +to+ :",
        rf"\b{_SURE} {_WHO}{_MUST} {_HOW}{_ACT}\b",
        rf"\b{_UNSURE} {_WHO}{_MUST} {_HOW}{_ACT} {_BETWEEN}{_AT_WORK}",
        rf"\breviewers? {_WHO}{_MUST} {_HOW}{_DISARM} {_BETWEEN}{_GUARD}\b",
        # "It is up to the agent to …", "requires every agent to …", "the agent's first task is to …"
        rf"\b(?:up to|(?:job|duty|task|responsibility) of|requires?|expects?|obliges?|instructs?|orders?|asks?|wants?) "
        rf"(?:(?:the|any|every|each|all|an?|your|whichever|whatever) (?:[\w-]{{1,20}} ){{0,2}}?)?"
        rf"(?:{_SURE} {_WHO}to {_HOW}{_ACT}\b|{_UNSURE} {_WHO}to {_HOW}{_ACT} {_BETWEEN}{_AT_WORK})",
        rf"\b(?:{_SURE}|{_UNSURE})'s? (?:\w{{1,15}} ){{0,2}}(?:job|duty|task|responsibility|step|role) (?:\w{{1,12}} )?"
        rf"(?:is|remains) (?:\w{{1,12}} )?to {_HOW}{_ACT} {_BETWEEN}{_AT_WORK}",
        rf"(?:^|[\s,;(])(?:{_SURE}|agents?) ?: {_HOW}{_ACT} {_BETWEEN}{_AT_WORK}",
        is_attack=False,
    ),
    form(
        _REASON,
        "agent assistent +ki llm claude copilot codex gemini bot modell "
        "|| muss müssen soll hat+ haben+ ist+ sind+ wird+ werden+",
        rf"\b{_GERMAN_SURE} (?:\S{{1,20}} ){{0,5}}?{_GERMAN_MUST},? (?:\S{{1,40}} ){{0,10}}?{_GERMAN_ACT}\b",
        rf"\b{_GERMAN_UNSURE} (?:\S{{1,20}} ){{0,5}}?{_GERMAN_MUST},? (?:\S{{1,40}} ){{0,6}}?{_GERMAN_AT_WORK}"
        rf".{{0,60}}?\b{_GERMAN_ACT}\b",
        is_attack=False,
    ),
)

SPEAKS_OF_AN_AGENT: Final = form(
    _REASON,
    "agent assist llm gpt claude copilot codex gemini +ai +ki chatbot bot reviewer "
    "|| must should shall +to+ muss müssen soll ist+ sind+ wird+ werden+",
    rf"\b(?:{_SURE}|{_AGENT}|reviewers?|bots?|{_GERMAN_SURE})\b[^.!?,;\n]{{0,40}}?"
    rf"\b(?:{_MUST} (?!{_HOW}{_DESCRIBED}\b)|{_GERMAN_MUST.replace('hat|haben|', '')} (?!.{{0,80}}\bwerden\b))",
    is_attack=False,
)
"""A broader look, for the lines of an output: there an order costs more than a line that is left out."""
