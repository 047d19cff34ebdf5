"""Made-up secrets of every form that redaction knows, put together at run time: none of them opens anything, and the
repository holds none."""

import base64
import json
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
URL = ALNUM + "_-"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class GeneratedSecret:
    """A secret as it stands in a text; `is_form` when it is known wherever it stands."""

    name: str
    kind: str
    secret: str
    text: str
    is_form: bool


class _Maker:
    """Random parts, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        made = "".join(self._random.choices(alphabet, k=length))
        # One of each sort, where rules ask for it.
        if length >= 12 and {"a", "A", "1"} <= set(alphabet):
            made = f"{made[:3]}k7{made[5:8]}Q4{made[10:]}"
        return made

    def uuid(self) -> str:
        return "-".join(self.of(HEX, length) for length in (8, 4, 4, 4, 12))

    def password(self) -> str:
        return self.of(ALNUM, 16)

    def word(self) -> str:
        """A word that no dictionary has, without capitals and digits."""
        return "".join(self._random.choice("bdfgklmnprtvz") + self._random.choice("aiou") for _ in range(7)) + "x"

    def lines(self, count: int) -> list[str]:
        return [self.of(BASE64, 64) for _ in range(count)]


def generated_secrets(seed: int = 7) -> list[GeneratedSecret]:
    """One secret of every form, with a text that holds it."""
    make = _Maker(seed)
    return [*_tokens(make), *_odd_forms(make), *_private_keys(make), *_named(make), *_spots(make), *_words(make)]


# kind: prefixes, alphabet, length of the rest
_BEGUN: tuple[tuple[str, str, str, int], ...] = (
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", ALNUM, 36),
    ("github-token", "github_pat_", ALNUM + "_", 82),
    ("gitlab-token", "glpat- gldt- glptt- glrt- glcbt- glft- glffct- glsoat- glagent- gloas- glimt-", URL, 20),
    ("gitlab-token", "GR1348941", URL, 20),
    ("bitbucket-token", "ATBB", ALNUM, 32),
    ("atlassian-token", "ATATT3xFfGF0 ATCTT3xFfGN0", URL, 180),
    ("npm-token", "npm_", ALNUM, 36),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc", URL, 100),
    ("rubygems-key", "rubygems_", HEX, 48),
    ("crates-token", "cio", ALNUM, 32),
    ("nuget-key", "oy2", LOWER + DIGITS, 43),
    ("clojars-token", "CLOJARS_", LOWER + DIGITS, 60),
    ("artifactory-key", "AKCp", ALNUM, 69),
    ("docker-token", "dckr_pat_ dckr_oat_", URL, 27),
    ("circleci-token", "CCIPAT_ CCIPRJ_", ALNUM, 62),
    ("buildkite-token", "bkua_", HEX, 40),
    ("sonar-token", "squ_ sqp_", HEX, 40),
    ("sourcegraph-token", "sgp_", HEX, 40),
    ("aws-key", "AKIA ASIA", UPPER + "234567", 16),
    ("aws-token", "IQoJb3JpZ2luX2Vj FwoGZXIvYXdzE", BASE64, 300),
    ("aws-key", "ABSK", BASE64, 120),
    ("google-key", "AIza", URL, 35),
    ("google-key", "ya29. GOCSPX-", URL, 28),
    ("google-key", "1//0", URL, 60),
    ("alibaba-key", "LTAI5t", ALNUM, 18),
    ("tencent-key", "AKID", ALNUM, 32),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", HEX, 64),
    ("cloudflare-token", "cfut_", ALNUM, 48),
    ("heroku-key", "HRKU-AA", URL, 58),
    ("fly-token", "fo1_", URL, 43),
    ("fly-token", "fm2_", BASE64, 120),
    ("render-key", "rnd_", ALNUM, 32),
    ("netlify-token", "nfp_", ALNUM, 40),
    ("vercel-token", "vcp_", ALNUM, 56),
    ("supabase-key", "sbp_", HEX, 40),
    ("supabase-key", "sb_secret_", URL, 31),
    ("planetscale-token", "pscale_tkn_ pscale_pw_", URL, 43),
    ("neon-key", "napi_", LOWER + DIGITS, 64),
    ("databricks-token", "dapi", HEX, 32),
    ("mongodb-secret", "mdb_sa_sk_", URL, 40),
    ("tailscale-key", "tskey-auth-k", ALNUM, 40),
    ("openshift-token", "sha256~", URL, 43),
    ("vault-token", "hvs. hvb.", URL, 90),
    ("pulumi-token", "pul-", HEX, 40),
    ("doppler-token", "dp.pt. dp.st.", ALNUM, 43),
    ("onepassword-key", "ops_eyJ", ALNUM, 300),
    ("age-key", "AGE-SECRET-KEY-1", UPPER + DIGITS, 58),
    ("slack-token", "xoxb-263594206564- xoxp-263594206564- xapp-1-A0123-", ALNUM, 32),
    ("stripe-key", "sk_live_ sk_test_ rk_live_", ALNUM, 32),
    ("stripe-key", "whsec_", ALNUM, 32),
    ("square-token", "sq0atp- sq0csp-", URL, 43),
    ("shopify-token", "shpat_ shpss_", HEX, 32),
    ("razorpay-key", "rzp_live_", ALNUM, 14),
    ("easypost-key", "EZAK", ALNUM, 54),
    ("shippo-token", "shippo_live_", HEX, 40),
    ("anthropic-key", "sk-ant-api03- sk-ant-admin01- sk-ant-oat01-", URL, 95),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", URL, 120),
    ("openai-key", "sk-", ALNUM, 48),
    ("openai-key", "sk-", HEX, 32),
    ("openrouter-key", "sk-or-v1-", HEX, 64),
    ("elevenlabs-key", "sk_", HEX, 48),
    ("huggingface-token", "hf_", ALNUM, 34),
    ("groq-key", "gsk_", ALNUM, 52),
    ("xai-key", "xai-", ALNUM, 80),
    ("replicate-token", "r8_", ALNUM, 37),
    ("perplexity-key", "pplx-", ALNUM, 48),
    ("nvidia-key", "nvapi-", URL, 64),
    ("cerebras-key", "csk-", LOWER + DIGITS, 48),
    ("together-key", "tgp_v1_", URL, 43),
    ("pinecone-key", "pcsk_", ALNUM, 70),
    ("jina-key", "jina_", ALNUM, 60),
    ("tavily-key", "tvly-dev-", ALNUM, 32),
    ("firecrawl-key", "fc-", HEX, 32),
    ("e2b-key", "e2b_", HEX, 40),
    ("runpod-key", "rpa_", UPPER + DIGITS, 42),
    ("mailgun-key", "key-", HEX, 32),
    ("twilio-key", "SK", HEX, 32),
    ("sentry-token", "sntryu_", HEX, 64),
    ("newrelic-key", "NRAK-", UPPER + DIGITS, 27),
    ("grafana-token", "glsa_", ALNUM, 41),
    ("grafana-token", "glc_ eyJrIjoi", ALNUM, 120),
    ("honeycomb-key", "hcaik_", LOWER + DIGITS, 58),
    ("posthog-key", "phx_", ALNUM, 43),
    ("linear-key", "lin_api_", ALNUM, 40),
    ("notion-token", "ntn_", ALNUM, 46),
    ("notion-token", "secret_", ALNUM, 43),
    ("figma-token", "figd_", URL, 40),
    ("dropbox-token", "sl.u.", URL, 140),
    ("typeform-token", "tfp_", ALNUM, 44),
    ("contentful-token", "CFPAT-", URL, 43),
    ("facebook-token", "EAAG", ALNUM, 180),
    ("deno-token", "ddp_", ALNUM, 36),
    ("prefect-key", "pnu_", ALNUM, 36),
    ("readme-key", "rdme_", LOWER + DIGITS, 70),
    ("bitcoin-key", "xprv", "23456789ABCDEFGHJKMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107),
    ("nostr-key", "nsec1", LOWER + DIGITS, 58),
)


def _tokens(make: _Maker) -> Iterator[GeneratedSecret]:
    for kind, prefixes, alphabet, length in _BEGUN:
        for prefix in prefixes.split():
            secret = prefix + make.of(alphabet, length)
            yield GeneratedSecret(f"{kind} {prefix}", kind, secret, secret, is_form=True)


def _odd_forms(make: _Maker) -> Iterator[GeneratedSecret]:
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    claims = base64.urlsafe_b64encode(json.dumps({"sub": make.of(ALNUM, 20)}).encode()).decode().rstrip("=")
    pad = make.of(ALNUM, 20)
    for kind, secret in (
        ("jwt", f"{header}.{claims}.{make.of(URL, 43)}"),
        ("jwt", f"{header}..{make.of(URL, 16)}.{make.of(URL, 60)}.{make.of(URL, 22)}"),
        ("azure-secret", f"{make.of(ALNUM, 3)}8Q~{make.of(URL, 34)}"),
        ("azure-key", make.of(ALNUM, 76) + "+ASt" + make.of(ALNUM, 6) + "=="),
        ("azure-key", make.of(ALNUM, 52) + "JQQJ99" + make.of(ALNUM, 18) + "AZDO" + make.of(ALNUM, 4)),
        ("cloudflare-key", f"v1.0-{make.of(HEX, 24)}-{make.of(HEX, 146)}"),
        ("terraform-token", f"{make.of(ALNUM, 14)}.atlasv1.{make.of(URL, 67)}"),
        ("onepassword-key", "-".join(["A3", *(make.of(UPPER + DIGITS, n) for n in (6, 6, 5, 5, 5, 5))])),
        ("telegram-token", f"{make.of('123456789', 10)}:AA{make.of(URL, 33)}"),
        ("square-token", "EAAA" + make.of(ALNUM.replace("A", ""), 60)),
        ("braintree-token", f"access_token$production${make.of(LOWER + DIGITS, 16)}${make.of(HEX, 32)}"),
        ("plaid-token", f"access-production-{make.uuid()}"),
        ("flutterwave-key", f"FLWSECK-{make.of(HEX, 32)}-X"),
        ("adyen-key", f"AQE{make.of(BASE64, 90)}==-{make.of(BASE64, 43)}=-{make.of(ALNUM, 16)}"),
        ("langfuse-key", f"sk-lf-{make.uuid()}"),
        ("langsmith-key", f"lsv2_pt_{make.of(HEX, 32)}_{make.of(HEX, 10)}"),
        ("sendgrid-key", f"SG.{make.of(URL, 22)}.{make.of(URL, 43)}"),
        ("mailchimp-key", f"{make.of(HEX, 32)}-us17"),
        ("brevo-key", f"xkeysib-{make.of(HEX, 64)}-{make.of(ALNUM, 16)}"),
        ("resend-key", f"re_{make.of(ALNUM, 8)}_{make.of(ALNUM, 24)}"),
        ("dynatrace-token", f"dt0c01.{make.of(UPPER + DIGITS, 24)}.{make.of(UPPER + DIGITS, 64)}"),
        ("launchdarkly-key", f"sdk-{make.uuid()}"),
        ("airtable-token", f"pat{make.of(ALNUM, 14)}.{make.of(HEX, 64)}"),
        ("hubspot-token", f"pat-eu1-{make.uuid()}"),
        ("postman-key", f"PMAK-{make.of(HEX, 24)}-{make.of(HEX, 34)}"),
        ("mapbox-token", f"sk.eyJ1Ijoi{make.of(ALNUM, 60)}.{make.of(URL, 22)}"),
        ("clickup-token", f"pk_{make.of(DIGITS, 8)}_{make.of(UPPER + DIGITS, 32)}"),
        ("password-hash", f"$2b$12${make.of(ALNUM, 53)}"),
        ("password-hash", f"$6${make.of(ALNUM, 16)}${make.of(ALNUM, 86)}"),
        ("password-hash", f"$apr1${make.of(ALNUM, 8)}${make.of(ALNUM, 22)}"),
        ("password-hash", f"$argon2id$v=19$m=65536,t=3,p=4${make.of(ALNUM, 22)}${make.of(ALNUM, 43)}"),
    ):
        yield GeneratedSecret(f"{kind} {secret[:4]}", kind, secret, secret, is_form=True)
    for kind, before, secret in (
        ("slack-webhook", "https://hooks.slack.com/services/T0A1B2C3/B0A1B2C3/", make.of(ALNUM, 24)),
        ("discord-webhook", "https://discord.com/api/webhooks/112233445566778899/", make.of(URL, 68)),
        (
            "teams-webhook",
            "https://acme.webhook.office.com/webhookb2/",
            f"{make.uuid()}/IncomingWebhook/{make.of(HEX, 32)}",
        ),
        ("azure-key", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=", make.of(BASE64, 86) + "=="),
        (
            "azure-key",
            "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey=",
            f"{pad}{make.of(ALNUM, 23)}=",
        ),
        ("discord-token", "discord bot ", f"MTA{make.of(ALNUM, 23)}.G{make.of(ALNUM, 5)}.{make.of(URL, 38)}"),
        ("discord-token", "client.run('", f"MTA{make.of(ALNUM, 21)}.G{make.of(ALNUM, 5)}.{make.of(URL, 27)}"),
        ("discord-token", "BOT=", f"NzE{make.of(ALNUM, 23)}.X{make.of(ALNUM, 5)}.{make.of(URL, 38)}"),
        ("okta-token", "headers = ['SSWS ", f"00{make.of(URL, 40)}"),
        ("firebase-token", "sent to ", f"{make.of(URL, 22)}:APA91b{make.of(URL, 134)}"),
        ("zapier-webhook", "https://hooks.zapier.com/hooks/catch/", f"{make.of('123456789', 7)}/{make.of(ALNUM, 12)}/"),
        ("mailgun-key", "mailgun ", f"{make.of(HEX, 32)}-{make.of(HEX, 8)}-{make.of(HEX, 8)}"),
        ("asana-token", "asana ", f"1/{make.of('12345', 16)}:{make.of(HEX, 32)}"),
    ):
        yield GeneratedSecret(f"{kind} {before[:24]}", kind, secret, before + secret, is_form=True)


def _private_keys(make: _Maker) -> Iterator[GeneratedSecret]:
    def key(name: str, text: str, lines: list[str]) -> GeneratedSecret:
        return GeneratedSecret(name, "private-key", lines[0][:40], text, is_form=True)

    for sort in ("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ", "DSA "):
        lines = make.lines(6)
        block = "\n".join([f"-----BEGIN {sort}PRIVATE KEY-----", *lines, "ab12=", f"-----END {sort}PRIVATE KEY-----"])
        yield key(f"private key {sort}", block, lines)
        yield key(f"private key {sort}escaped", json.dumps({"private_key": block}), lines)
        yield key(f"private key {sort}cut", block[:300], lines)
        tail = make.lines(4)
        yield key(f"private key {sort}tail", "\n".join([*tail, f"-----END {sort}PRIVATE KEY-----"]), tail)
    lines = make.lines(4)
    yield key(
        "PGP private key",
        "\n".join(
            ["-----BEGIN PGP PRIVATE KEY BLOCK-----", "", *lines, "=ab12", "-----END PGP PRIVATE KEY BLOCK-----"]
        ),
        lines,
    )
    lines = make.lines(4)
    yield key("PuTTY key", "\n".join(["Private-Lines: 4", *lines, "Private-MAC: 0"]), lines)
    lines = make.lines(4)
    lines[0] = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" + lines[0][40:]
    yield GeneratedSecret("key without a header", "private-key", lines[2][:40], "\n".join(lines), is_form=True)
    lines = make.lines(4)
    encoded = base64.b64encode("\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines]).encode()).decode()
    yield GeneratedSecret(
        "kubeconfig key", "private-key", encoded[60:120], f"    client-key-data: {encoded}", is_form=True
    )
    secret = make.of(URL, 43)
    yield GeneratedSecret(
        "JSON web key", "private-key", secret, json.dumps({"kty": "EC", "crv": "P-256", "d": secret}), is_form=True
    )


def _named(make: _Maker) -> Iterator[GeneratedSecret]:
    """Values that only a name gives away, in the spellings of many files."""
    for name, text in (
        ("AWS secret in credentials", "aws_secret_access_key = {b40}"),
        ("AWS session token", "export AWS_SESSION_TOKEN={b40}{b40}"),
        ("Azure client secret", "AZURE_CLIENT_SECRET={p}"),
        ("Cloudflare token", "CLOUDFLARE_API_TOKEN={a40}"),
        ("Heroku key", "HEROKU_API_KEY={uuid}"),
        ("Linode token", "LINODE_TOKEN={h64}"),
        ("Vultr key", "VULTR_API_KEY={u36}"),
        ("Vercel token", "VERCEL_TOKEN={a24}"),
        ("Snowflake password", "SNOWFLAKE_PASSWORD={p}"),
        ("Gitea token", "GITEA_TOKEN={h40}"),
        ("Bitbucket secret", "BITBUCKET_CLIENT_SECRET={a32}"),
        ("PayPal secret", "PAYPAL_CLIENT_SECRET={a80}"),
        ("Plaid secret", '"plaid": {{"client_id": "x", "secret": "{h30}"}}'),
        ("Adyen key", "ADYEN_API_KEY: {a80}"),
        ("Mistral key", "MISTRAL_API_KEY={a32}"),
        ("Cohere key", "export CO_API_KEY={a40}"),
        ("DeepL key", "deepl_auth_key = '{uuid}:fx'"),
        ("Postmark token", "X-Postmark-Server-Token: {uuid}"),
        ("Twilio auth token", "TWILIO_AUTH_TOKEN={h32}"),
        ("Mailjet secret", "mailjet:\n  api_secret: {h32}"),
        ("Datadog API key", "DD_API_KEY={h32}"),
        ("Datadog application key", "DD_APP_KEY={h40}"),
        ("New Relic licence", "NEW_RELIC_LICENSE_KEY={h36}NRAL"),
        ("Honeycomb key", "HONEYCOMB_API_KEY={a22}"),
        ("Algolia admin key", "ALGOLIA_ADMIN_KEY={h32}"),
        ("Okta token", "Authorization: SSWS 00{a40}"),
        ("Opsgenie key", "Authorization: GenieKey {uuid}"),
        ("bearer header", "-H 'Authorization: Bearer {a32}'"),
        ("basic header", "Authorization: Basic {basic}"),
        ("API key header", "curl -H 'X-Api-Key: {a32}' https://api.test"),
        ("GitLab header", "curl --header 'PRIVATE-TOKEN: {a20}' https://git.test"),
        ("session cookie", "Cookie: sessionid={a32}; theme=dark"),
        ("set cookie", "Set-Cookie: connect.sid=s%3A{a32}.{a40}; Path=/; HttpOnly"),
        ("dotenv", "STRIPE_SECRET={a24}"),
        ("exported", "export DB_PASSWORD='{p}'"),
        ("YAML", "database:\n  password: {p}\n  port: 5432"),
        ("YAML quoted", 'smtp:\n  pass: "{p}"'),
        ("JSON", '{{"user": "app", "password": "{p}"}}'),
        ("JSON escaped", '"{{\\"clientSecret\\": \\"{a32}\\"}}"'),
        ("TOML", 'api_key = "{a32}"'),
        ("INI", "[mysql]\nuser = app\npassword = {p}"),
        ("properties", "spring.datasource.password={p}"),
        ("XML element", "<password>{p}</password>"),
        ("XML attribute", '<add key="ApiKey" value="{a32}" />'),
        ("Python", 'requests.get(url, auth=("app", "{p}"))'),
        ("Python constant", "SECRET_KEY = 'django-insecure-{a40}'"),
        ("JavaScript", "const config = {{ apiKey: '{a32}', debug: true }}"),
        ("Go", 'os.Setenv("API_TOKEN", "{a32}")'),
        ("PHP", "define('DB_PASSWORD', '{p}');"),
        ("Laravel key", "APP_KEY=base64:{b43}="),
        ("Rails key", "secret_key_base: {h128}"),
        ("Terraform variable", 'variable "db_password" {{\n  default = "{p}"\n}}'),
        ("Kubernetes env", "- name: DB_PASSWORD\n  value: {p}"),
        ("Kubernetes token", "users:\n- user:\n    token: {a40}"),
        ("Dockerfile", "FROM scratch\nENV API_TOKEN {a32}"),
        ("flag", "deploy --api-key {a32} --fast"),
        ("flag with =", "deploy --token={a32}"),
        ("a key of its own", "ORDERS_INGEST_SINK_KEY={a40}"),
        ("WireGuard", "[Interface]\nPrivateKey = {b43}="),
        ("npmrc", "//registry.test/:_authToken={uuid}"),
        ("npmrc auth", "_auth={basic}"),
        ("pypirc", "[pypi]\nusername = app\npassword = {p}"),
        ("docker config", '{{"auths": {{"registry.test": {{"auth": "{basic}"}}}}}}'),
        ("told", "the password for the database is {p}."),
        ("SAS", "https://shop.blob.core.windows.net/c?sv=2024-11-04&sig={a40}%3D"),
        ("AWS signed URL", "https://b.s3.amazonaws.com/k?X-Amz-Signature={h64}"),
        ("query", "https://api.test/v1/orders?api_key={a32}&page=2"),
    ):
        yield _filled(make, name, text)


def _spots(make: _Maker) -> Iterator[GeneratedSecret]:
    """Passwords that the command, the URL or the file around them gives away."""
    for name, text in (
        ("postgres URL", "postgres://app:{p}@db.test:5432/shop"),
        ("mysql URL", "mysql://app:{p}@db.test/shop"),
        ("mongodb URL", "mongodb+srv://app:{p}@cluster0.test/?retryWrites=true"),
        ("redis URL", "redis://:{p}@cache.test:6379/0"),
        ("amqp URL", "amqps://app:{p}@mq.test/vhost"),
        ("https URL", "git clone https://app:{p}@git.test/a/b.git"),
        ("token in URL", "https://{h40}@sentry.test/42"),
        ("JDBC", "jdbc:postgresql://db.test/shop?user=app&password={p}"),
        ("JDBC SQL Server", "jdbc:sqlserver://db.test:1433;user=app;password={p};encrypt=true"),
        ("JDBC Oracle", "jdbc:oracle:thin:app/{p}@//db.test:1521/shop"),
        ("ADO", "Server=db.test;Database=shop;User Id=app;Password={p};TrustServerCertificate=true"),
        ("libpq", "host=db.test user=app password={p} dbname=shop"),
        ("curl -u", "curl -u app:{p} https://api.test"),
        ("sshpass", "sshpass -p {p} ssh host"),
        ("sshpass list", '["sshpass", "-p", "{p}", "ssh", "host"]'),
        ("mysql -p", "mysqldump -u root -p{p} shop"),
        ("docker login", "docker login -u app -p {p} registry.test"),
        ("docker login list", "subprocess.run(['docker', 'login', '-u', 'app', '-p', '{p}'])"),
        ("redis-cli", "redis-cli -h cache.test -a {p} ping"),
        ("mongosh", "mongosh -u app -p {p} shop"),
        ("ldapsearch", "ldapsearch -x -D cn=app -w {p} -b dc=test"),
        ("sqlcmd", "sqlcmd -S db.test -U sa -P {p}"),
        ("sqlplus", "sqlplus app/{p}@db.test/shop"),
        ("openssl", "openssl enc -aes-256-cbc -pass pass:{p}"),
        ("htpasswd", "htpasswd -bc users app {p}"),
        ("keytool", "keytool -genkey -storepass {p} -alias a"),
        ("7z", "7z a -p{p} out.7z data"),
        ("zip", "zip -P {p} out.zip data"),
        ("smbclient", "smbclient //h/s -U app%{p}"),
        ("gh secret", "gh secret set TOKEN --body {p}"),
        ("kubectl secret", "kubectl create secret generic db --from-literal=pw={p}"),
        ("aws configure", "aws configure set aws_secret_access_key {b40}"),
        ("npm config", "npm config set //registry.test/:_authToken {uuid}"),
        ("sudo -S", "echo {p} | sudo -S ls"),
        ("password-stdin", "echo {p} | docker login --password-stdin -u app"),
        ("chpasswd", "echo 'app:{p}' | chpasswd"),
        ("setx", "setx API_TOKEN {p}"),
        ("netrc", "machine api.test\n  login app\n  password {p}"),
        ("pgpass", "db.test:5432:shop:app:{p}"),
        ("redis.conf", "requirepass {p}"),
        ("SQL user", "CREATE USER app WITH PASSWORD '{p}';"),
        ("MySQL user", "CREATE USER 'app'@'%' IDENTIFIED BY '{p}';"),
        ("PowerShell", 'ConvertTo-SecureString "{p}" -AsPlainText -Force'),
        ("recovery phrase", "mnemonic: {w12}"),
    ):
        yield _filled(make, name, text)


def _words(make: _Maker) -> Iterator[GeneratedSecret]:
    """Passwords that are plain words."""
    for name, text in (
        ("word in a flag", "deploy --password={w}"),
        ("word in a URL", "amqp://app:{w}@mq.test"),
        ("word in JSON", '{{"password": "{w}"}}'),
        ("word in the environment", "DB_PASSWORD={w}"),
        ("word in properties", "db.user=app\ndb.password={w}\ndb.pool=4"),
        ("word in YAML", "database:\n  user: app\n  password: {w}\n  port: 5432"),
        ("word in an INI file", "[client]\nuser = app\npassword = {w}"),
        ("word in a connection", "Server=db.test;User Id=app;Password={w};"),
        ("word in a query", "https://api.test/login?user=app&password={w}"),
        ("word for sshpass", "sshpass -p {w} ssh host"),
        ("word in a sentence", "my password is {w}."),
        ("word in a list", '["mysqldump", "-p{w}", "shop"]'),
    ):
        yield _filled(make, name, text)


def _filled(make: _Maker, name: str, text: str) -> GeneratedSecret:
    """The text with a random value in its gap; the longest one is the secret."""
    word = make.word()
    values = {
        "p": make.password(),
        "w": word,
        "w12": " ".join(make.word()[:7] for _ in range(12)),
        "uuid": make.uuid(),
        "basic": base64.b64encode(f"app:{make.password()}".encode()).decode(),
        **{f"a{n}": make.of(ALNUM, n) for n in (20, 22, 24, 32, 40, 80)},
        **{f"b{n}": make.of(BASE64, n) for n in (40, 43)},
        **{f"h{n}": make.of(HEX, n) for n in (30, 32, 36, 40, 64, 128)},
        "u36": make.of(UPPER + DIGITS, 36),
    }
    secret = max((value for key, value in values.items() if f"{{{key}}}" in text), key=len)
    return GeneratedSecret(name, "", secret, text.format(**values), is_form=False)
