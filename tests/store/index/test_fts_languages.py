"""What finds what: identifiers in any case and with any separator, German, Chinese, Japanese, Korean and others."""

from itertools import permutations

import pytest

from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import matched_words, query_words
from tests.support.fakes import Store

SPELLINGS = (
    "getUserById",
    "get_user_by_id",
    "get-user-by-id",
    "GETUSERBYID",
    "getuserbyid",
    "GetUserById",
    "GET_USER_BY_ID",
)

# What is stored, what is asked for, and whether it is found.
TABLE = [
    *((f"Cache {stored} for a minute", query, True) for stored, query in permutations(SPELLINGS, 2)),
    ("Cache getUserById for a minute", "user by id", True),
    ("Cache getUserById for a minute", "order", False),
    ("Cache get_user_by_id for a minute", "user", True),
    ("HTTPServer2 hangs", "httpserver2", True),
    ("HTTPServer2 hangs", "http_server_2", True),
    ("HTTPServer2 hangs", "server", True),
    ("http-server-2 hangs", "HTTPServer2", True),
    ("Read the file as utf-8", "UTF8", True),
    ("Read the file as UTF8", "utf-8", True),
    ("Set MAX_RETRY_COUNT to 5", "maxRetryCount", True),
    ("Use --dry-run first", "dryRun", True),
    ("my_getUser is slow", "getuser", True),
    ("Edit src/auth/jwt.py", "jwt.py", True),
    ("Edit src/auth/jwt.py", "src/auth/jwt.py", True),
    ("Edit src/auth/jwt.py", "auth", True),
    ("Edit src/auth/jwt.py", "authjwt", False),
    ("Reverted in 3f2a91bc", "3F2A91BC", True),
    ("Request 550e8400-e29b-41d4-a716-446655440000 failed", "550e8400e29b41d4a716446655440000", True),
    # English
    ("Authentication was rewritten", "author", False),
    ("Refresh tokens are stored in UTC", "token refreshing", True),
    ("The café menu is cached", "cafe", True),
    ("The cafe menu is cached", "CAFÉ", True),
    ("Zoe\u0308 wrote the parser", "Zoë", True),
    ("The of\ufb01ce \ufb02ag", "office flag", True),
    ("Set ＡＰＩ＿ＫＥＹ here", "API_KEY", True),
    ("Upgrade to ℌ² for x²", "x2", True),
    ("Found in data\u00adbase", "database", True),
    # German
    ("Größe der Schriftgröße prüfen", "grösse", True),
    ("Größe der Anzeige prüfen", "GROSSE", True),
    ("Grosse Anzeige", "große", True),
    ("Straße und Hausnummer", "STRASSE", True),
    ("Prüfung für Überweisungen", "uberweisungen", True),
    ("Prüfung für Überweisungen", "Überweisungen", True),
    ("Die Datenbankverbindung bricht ab", "Datenbank", True),
    ("Die Datenbankverbindung bricht ab", "Bank", False),
    ("Die Verbindung wird geschlossen", "warum wird die Verbindung geschlossen", True),
    # Chinese
    ("修复用户登录失败的问题", "登录", True),
    ("修复用户登录失败的问题", "用户登录", True),
    ("修复用户登录失败的问题", "登录失败", True),
    ("修复用户登录失败的问题", "修", True),
    ("修复用户登录失败的问题", "录", True),
    ("修复用户登录失败的问题", "题", True),
    ("修复用户登录失败的问题", "注销", False),
    ("修复用户登录失败的问题", "复录", False),
    ("用户ID登录", "id", True),
    ("用户ID登录", "用户", True),
    ("用户ID登录", "登录", True),
    ("用户ID登录", "户登", False),
    ("数据库连接池，大小为10", "连接池", True),
    ("锁", "锁", True),
    # Japanese
    ("データベース接続", "テスト", False),
    ("データベース接続がタイムアウトする", "データベース", True),
    ("データベース接続がタイムアウトする", "接続", True),
    ("データベース接続がタイムアウトする", "タイムアウト", True),
    ("ﾃﾞｰﾀﾍﾞｰｽの接続", "データベース", True),
    ("データベースの接続", "ﾃﾞｰﾀﾍﾞｰｽ", True),
    ("ユーザー認証を直した", "認証", True),
    ("テストが落ちる", "落ちる", True),
    ("ハ\u3099グを直した", "バグ", True),
    # Korean
    ("사용자를 삭제했다", "사용자", True),
    ("사용자를 삭제했다", "삭제", True),
    # Others
    ("Исправлена ошибка входа", "ошибка", True),
    ("Исправлена ОШИБКА входа", "ошибка", True),
    ("Διόρθωση σφάλματος", "διορθωση", True),
    ("مُحَمَّد", "محمد", True),
    ("लॉगिन की समस्या", "लॉगिन", True),
    ("İstanbul saati", "istanbul", True),
]


@pytest.mark.parametrize(("stored", "query", "is_found"), TABLE)
def test_what_finds_what(store: Store, stored: str, query: str, is_found: bool) -> None:
    store.remember("Something else altogether", summary="")
    store.remember(stored, summary="")
    assert [seq for seq, _ in fts.search(store.db, query_words(query), Filters(), 10)] == ([2] if is_found else [])


@pytest.mark.parametrize(("stored", "query"), [row[:2] for row in TABLE if row[2]])
def test_what_is_found_is_said_to_have_a_word_of_the_question(stored: str, query: str) -> None:
    assert matched_words(query_words(query), stored) != []
