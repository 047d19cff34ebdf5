"""Secrets that are known by their own form: the tokens of well-known services.

Called by `redact` on every text an event holds. Every pattern takes time in proportion to the text, whatever it is:
`re` lets no other thread run meanwhile, so a slow one would stop the whole worker."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from claude_mem_lite.redaction.signs import compiled

# Where a token may begin: not inside a word, but behind an escape ("\nghp_…" in a string that holds JSON, %3D, \u003d).
_EDGES = (r"(?<![A-Za-z0-9_]{})", r"(?<=\\[nrt]{})", r"(?<=%[0-9A-F][0-9A-F]{})", r"(?<=\\u00[0-9a-f][0-9a-f]{})")
_HEX = "0123456789abcdef"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """One form of secret, and the signs (see `signs`) of which one is in every text that holds it."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    is_secret: Test | None = None
    may_be_glued: bool = False
    """It is looked for inside of words too, where it has to be random."""

    def without(self, text: str) -> str:
        """The text with the mark of this kind in place of each secret of this form."""
        mark = f"[redacted:{self.kind}]"
        is_secret = self.is_secret
        if self.may_be_glued:
            return compiled(self.pattern).sub(lambda found: mark if self._is_token(found) else found[0], text)
        if is_secret is None:
            return compiled(self.pattern).sub(mark, text)
        return compiled(self.pattern).sub(lambda found: mark if is_secret(found[0]) else found[0], text)

    def _is_token(self, found: re.Match[str]) -> bool:
        is_whole = compiled(edge()).match(found.string, found.start()) is not None
        stands_for_one = found[0].lower().endswith("x" * 12)
        return (
            not stands_for_one
            and (self.is_secret is None or self.is_secret(found[0]))
            and (is_whole or _is_unlike_a_name(found[0]))
        )


def _is_unlike_a_name(value: str) -> bool:
    """Whether a token that is glued to a word is none of the names that begin alike."""
    digits = sum(map(str.isdigit, value))
    return len(value) >= 20 and digits >= 2 and (_is_mixed(value) or value.isupper() or digits >= 8)


def _is_random(value: str) -> bool:
    """Whether a part of it is a machine's: `sk-folding-cube-container-2` is the name of a style."""
    parts = re.split(r"[_-]", value)
    return any(len(part) >= 16 and any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)


def _is_mixed(value: str) -> bool:
    """Whether capitals, small letters and digits all occur."""
    return any(map(str.isdigit, value)) and value.lower() != value and value.upper() != value


def _is_no_data(value: str) -> bool:
    """Whether it is none of the zeros that base64 of a file is full of."""
    return _is_mixed(value) and value.count("AA", 4) <= 1


def _is_bot_token(value: str) -> bool:
    """Whether its first and last part are a machine's: a long name may be called on a long name, too."""
    first, _, last = value.split(".")
    return _is_mixed(first) and _is_mixed(last)


def edge(before: str = "") -> str:
    """The pattern of where a token may begin, looked at from behind `before`."""
    return f"(?:{'|'.join(edge.format(before) for edge in _EDGES)})"


def _at_edge(literal: str, rest: str) -> str:
    """A pattern whose literal begins a word. Looked for first, back from its end: 1 ms a 500 KB instead of 15."""
    start = re.escape(literal)
    return start + edge(start) + rest


def is_glueable(literal: str) -> bool:
    """Whether what begins a token is found inside of a word too: it ends with a sign, or is never there by chance."""
    is_word = literal in ("live_", "secret_", "key-", "api-", "sdk-", "sess-", "API-")
    return (len(literal) >= 4 and not literal[-1].isalnum() and not is_word) or literal in ("AKIA", "ASIA", "AIza")


def _begun(kind: str, literals: str, rest: str, is_secret: Test | None = None) -> list[Format]:
    """Formats that begin a word with one of the literals and go on alike."""
    return [
        Format(kind, (one,), re.escape(one) + rest, is_secret, may_be_glued=True)
        if is_glueable(one)
        else Format(kind, (one,), _at_edge(one, rest), is_secret)
        for one in literals.split()
    ]


def _of(kind: str, signs: str, pattern: str) -> list[Format]:
    return [Format(kind, tuple(signs.split()), pattern)]


FORMATS: tuple[Format, ...] = (
    # The longest first: another may seem to begin in their midst.
    *_begun("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,}"),
    *_begun("pypi-token", "pypi-", r"[A-Za-z0-9_-]{50,}"),
    # Source hosts, builds and packages.
    *_begun("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?:\d{1,12}_eyJ[\w.-]{40,}|[A-Za-z0-9]{20,255})"),
    *_of("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,255}"),
    *_begun(
        "gitlab-token",
        "glpat- gldt- glptt- glrt- glrtr- glcbt- glft- glffct- glsoat- glagent- gloas- glimt- glwt-",
        r"[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    *_begun("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{20}"),
    *_begun("bitbucket-token", "ATBB", r"[A-Za-z0-9_=-]{24,}"),
    *_begun("atlassian-token", "ATATT3 ATCTT3 ATTA", r"[A-Za-z0-9_=-]{50,}"),
    *_begun("npm-token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    *_of("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    *_begun("crates-token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])", _is_mixed),
    *_begun("nuget-key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    *_of("clojars-token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    *_begun("artifactory-key", "AKCp", r"[A-Za-z0-9]{50,80}"),
    *_begun("artifactory-key", "cmVmdGtuOj", r"[A-Za-z0-9]{40,80}"),
    *_of("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    *_of("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{30,}"),
    *_begun("buildkite-token", "bkua_ bkaa_", r"[a-z0-9]{40}"),
    *_begun("sonar-token", "sqp_ squ_ sqa_", r"[a-f0-9]{40}"),
    *_begun("sourcegraph-token", "sgp_", r"(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    # Clouds and hosting.
    *_begun("aws-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_of("aws-token", "IQoJb3JpZ2lu FwoGZXIvYXdz AQoDYXdz", r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|AQoDYXdz)[\w/+=%-]{50,}"),
    *_begun("aws-key", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    *_begun("google-key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    *_begun("google-key", "ya29. GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    *_begun("google-key", "AQ.Ab", r"[A-Za-z0-9_-]{40,}"),
    *_begun("google-key", "GOOG1", r"[A-Z0-9]{50,60}(?![A-Za-z0-9])"),
    *_of("google-key", "*1//0", _at_edge("1//0", r"[A-Za-z0-9_-]{35,}")),
    *_of("azure-key", "AccountKey= SharedAccessKey=", r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/=]{40,}"),
    *_begun("alibaba-key", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", _is_mixed),
    *_begun("tencent-key", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])", _is_mixed),
    *_begun("yandex-key", "AQVN y0_", r"[A-Za-z0-9_-]{35,}"),
    *_of("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    *_begun("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    *_begun("cloudflare-token", "cfut_ cfat_ cfk_", r"[A-Za-z0-9]{40,}"),
    *_begun("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    *_begun("fly-token", "fo1_", r"[A-Za-z0-9_-]{40,}"),
    *_begun("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/=_-]{60,}"),
    *_begun("render-key", "rnd_", r"[A-Za-z0-9]{28,}"),
    *_begun("netlify-token", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9_]{36,}"),
    *_begun("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,}"),
    *_begun("vercel-token", "vercel_blob_rw_", r"[A-Za-z0-9_]{30,}"),
    *_begun("supabase-key", "sbp_", r"(?:oauth_)?[a-f0-9]{40}"),
    *_begun("supabase-key", "sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    *_begun("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_otkn_", r"[A-Za-z0-9_.-]{30,}"),
    *_begun("neon-key", "napi_", r"[a-z0-9]{40,}"),
    *_begun("neon-key", "npg_", r"[A-Za-z0-9]{12,}", _is_mixed),
    *_begun("databricks-token", "dapi dose", r"[a-f0-9]{32}(?:-\d)?"),
    *_begun("mongodb-secret", "mdb_sa_sk_", r"[A-Za-z0-9_-]{30,}"),
    *_begun("scaleway-key", "SCW", r"[A-Z0-9]{17}(?![A-Za-z0-9])"),
    *_begun("tailscale-key", "tskey-", r"[A-Za-z0-9-]{18,}"),
    *_of("openshift-token", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    # Keeping secrets.
    *_begun("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    *_of("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    *_begun("pulumi-token", "pul-", r"[a-f0-9]{40}"),
    *_begun("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[\w-]{2,40}\.)?[A-Za-z0-9]{40,44}"),
    *_begun("onepassword-key", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,}={0,3}"),
    *_begun("onepassword-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}-(?:[A-Z0-9]{5}-){2,3}[A-Z0-9]{5}(?![A-Za-z0-9])"),
    *_of("okta-token", "SSWS", r"SSWS(?:[ \t]{1,4}|%20)00[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])"),
    *_of("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{58,}"),
    # Chat.
    *_of("slack-token", "xox xoxb- xoxp-", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    *_of("slack-token", "xapp- xwfp-", r"(?:xapp-\d|xwfp)-[A-Za-z0-9-]{10,}"),
    *_of(
        "slack-webhook",
        "hooks.slack.com/ hooks.slack-gov.com/",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    ),
    *_of(
        "discord-webhook",
        "/webhooks/",
        r"discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/\d{5,25}/[A-Za-z0-9_-]{20,}",
    ),
    *_of(
        "discord-token",
        "discord",
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    ),
    Format(
        "discord-token",
        ("*.",),
        rf"[MNO]{edge('[MNO]')}[A-Za-z0-9_-]{{22,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}(?![A-Za-z0-9_-])",
        _is_bot_token,
    ),
    *_of("discord-token", "mfa.", r"(?<![\w.])mfa\.[A-Za-z0-9_-]{80,}"),
    *_of(
        "zapier-webhook",
        "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/(?:v\d/)?\d{3,12}/[A-Za-z0-9/_-]{5,}",
    ),
    *_of("teams-webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{20,}"),
    *_of("telegram-token", "*:AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    *_of("firebase-token", ":APA91b", r"(?<!\\)" + edge() + r"[A-Za-z0-9_-]{11,40}:APA91b[A-Za-z0-9_-]{124,}"),
    # Payment and commerce.
    *_begun("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}"),
    *_begun("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    *_begun("square-token", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,}"),
    *_begun("square-token", "EAAA", r"[A-Za-z0-9_-]{60}(?![A-Za-z0-9_+=-])", _is_no_data),
    *_of("braintree-token", "access_token$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,20}\$[a-f0-9]{32}"),
    *_begun("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    *_begun("plaid-token", "access-sandbox- access-development- access-production- public-production-", _UUID),
    *_begun("adyen-key", "AQE", r"[A-Za-z0-9+/]{40,200}={0,2}-[A-Za-z0-9+/]{30,60}={0,2}-[^\s\"'\\]{8,24}"),
    *_begun("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,}"),
    *_of("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-h]{12,40}-X"),
    *_begun("payment-key", "live_", r"[A-Za-z0-9_-]{30,}(?![A-Za-z0-9_])", _is_random),
    *_begun("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    *_begun("shippo-token", "shippo_live_ shippo_test_", r"[a-f0-9]{40}"),
    *_begun("duffel-token", "duffel_live_ duffel_test_", r"[A-Za-z0-9_-]{40,}"),
    # Models.
    *_begun("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,}"),
    *_begun("openrouter-key", "sk-or-", r"[A-Za-z0-9_-]{20,}"),
    *_begun("langfuse-key", "sk-lf-", _UUID),
    *_begun("openai-key", "sk-", r"[A-Za-z0-9_-]{20,}", _is_random),
    *_begun("openai-key", "sess-", r"[A-Za-z0-9]{40}(?![A-Za-z0-9])", _is_mixed),
    *_begun("elevenlabs-key", "sk_", r"[a-f0-9]{48}(?![A-Za-z0-9])"),
    *_begun("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    *_begun("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    *_begun("xai-key", "xai-", r"[A-Za-z0-9]{40,}"),
    *_begun("replicate-token", "r8_", r"[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    *_begun("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    *_begun("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{50,}"),
    *_begun("cerebras-key", "csk-", r"[a-z0-9]{40,}"),
    *_begun("together-key", "tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    *_begun("fireworks-key", "fw_", r"[A-Za-z0-9]{22,}", _is_mixed),
    *_begun("voyage-key", "pa-", r"[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", _is_random),
    *_begun("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{50,}"),
    *_begun("jina-key", "jina_", r"[A-Za-z0-9_-]{50,}"),
    *_begun("tavily-key", "tvly-", r"[A-Za-z0-9-]{28,}"),
    *_begun("firecrawl-key", "fc-", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    *_begun("e2b-key", "e2b_", r"[a-f0-9]{40}"),
    *_begun("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    *_begun("runpod-key", "rpa_", r"[A-Z0-9]{40,}"),
    # Mail and messages.
    *_begun("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}"),
    *_begun("mailgun-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    *_of("mailgun-key", "mailgun", r"(?<![0-9a-f])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])"),
    *_of(
        "mailchimp-key", " ".join(f"us{number}." for number in range(1, 31)), r"[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9-])"
    ),
    *_of("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    *_begun("resend-key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}(?![A-Za-z0-9_])", _is_mixed),
    *_of("twilio-key", " ".join(f"SK{digit}" for digit in _HEX), _at_edge("SK", r"[0-9a-f]{32}(?![0-9A-Za-z])")),
    # Watching and measuring.
    *_begun("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}"),
    *_begun("newrelic-key", "NRAK- NRJS- NRII- NRIQ- NRRA- NRSP-", r"[A-Za-z0-9_-]{19,}"),
    *_begun("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/=_]{32,}"),
    *_begun("grafana-token", "eyJrIjoi", r"[A-Za-z0-9+/]{40,}={0,2}"),
    *_begun("honeycomb-key", "hcaik_ hcbik_ hcxik_ hcamk_ hcalk_", r"[A-Za-z0-9]{26,}"),
    *_of("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    *_begun("posthog-key", "phx_", r"[A-Za-z0-9]{40,}"),
    *_begun("launchdarkly-key", "sdk- api-", _UUID),
    # Work and web.
    *_begun("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}"),
    *_begun("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    *_begun("notion-token", "secret_", r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    *_begun("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    *_begun("figma-token", "figd_ figo_ figor_", r"[A-Za-z0-9_-]{38,}"),
    *_of("asana-token", "asana", r"(?<![\d/])[012]/\d{13,20}(?:/\d{13,20})?:[a-f0-9]{32}"),
    *_begun("dropbox-token", "sl.", r"(?:u\.)?[A-Za-z0-9_-]{60,}"),
    *_begun("hubspot-token", "pat-na1- pat-na2- pat-eu1-", _UUID),
    *_begun("intercom-token", "dG9rO", r"[A-Za-z0-9+/]{40,}={0,2}"),
    *_begun("clickup-token", "pk_", r"\d{5,12}_[A-Z0-9]{32}"),
    *_begun("typeform-token", "tfp_", r"[A-Za-z0-9_.-]{40,}"),
    *_begun("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    *_begun("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{43}"),
    *_begun("mapbox-token", "sk.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{10,}"),
    *_begun("facebook-token", "EAAC EAAG EAAB", r"[A-Za-z0-9]{90,}", _is_no_data),
    *_begun("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{10,}%[A-Za-z0-9%]{30,}"),
    *_begun("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}"),
    *_begun("deno-token", "ddp_ ddw_ ddo_", r"[A-Za-z0-9]{36}"),
    *_begun("prefect-key", "pnu_", r"[A-Za-z0-9]{36}"),
    *_begun("readme-key", "rdme_", r"[a-z0-9]{70}"),
    *_begun("wakatime-key", "waka_", _UUID),
    *_begun("octopus-key", "API-", r"[A-Z0-9]{26,36}(?![A-Za-z0-9])"),
    *_of("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    *_of("bitcoin-key", "xprv", r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    *_begun("nostr-key", "nsec1", r"[a-z0-9]{58}"),
    # Known by the file that it stands in.
    *_of("rails-key", "*master.key *credentials/production.key", r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"),
    # What has its sign in its midst.
    *_of("azure-key", "*+ASt", r"[A-Za-z0-9+/]{70,76}\+ASt[A-Za-z0-9+/]{5,8}=="),
    *_of("azure-key", "*AzFu", r"[A-Za-z0-9_-]{40,46}AzFu[A-Za-z0-9_-]{2,10}={0,2}"),
    *_of("azure-key", "*JQQJ99", r"[A-Za-z0-9]{40,52}JQQJ99[A-Za-z0-9]{20,32}"),
    *_of("azure-secret", "*Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    # What is made from a password, to be guessed at leisure.
    *_of("password-hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    *_of(
        "password-hash",
        "$1$ $5$ $6$ $apr1$",
        r"\$(?:1|5|6|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}",
    ),
    *_of("password-hash", "$y$ $argon2", r"\$(?:y|argon2(?:id|i|d))\$[./A-Za-z0-9+=,$]{30,250}"),
    *_of("password-hash", "pbkdf2_ scrypt:", r"(?:pbkdf2_sha\d{1,3}\$|scrypt:)\d{2,9}[$:][\w./+=:$-]{30,250}"),
    *_of("password-hash", "{SHA} {SSHA}", r"\{S?SHA\d{0,3}\}[A-Za-z0-9+/]{20,100}={0,2}"),
)
