"""What is taken out of a text before a model reads it, and what stays."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everfold.core.threats.redaction import redact_secrets

CHANCE = "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
SECRETS = [
    (f"use sk-{CHANCE} for it", CHANCE, "API key"),
    (f"OPENAI_API_KEY=sk-proj-{CHANCE}", CHANCE, "API key"),
    ("API_KEY=sk-secret-key-abcdefghijklmnopqrstuvwxyz", "sk-secret-key-abcdef", "API key"),
    ("my api key is sk-team_vault-key-of-the-harbour-office", "sk-team_vault", "API key"),
    ('"secret": "sk-abcdefghijklmnopqrstuvw"', "abcdefghijklmnop", "API key"),
    (f"sk-ant-api03-{CHANCE}-{CHANCE}", CHANCE, "API key"),
    (f"git clone with ghp_{CHANCE}", CHANCE, "API key"),
    (f"github_pat_11ABCDEFG0{CHANCE}", CHANCE, "API key"),
    (f"glpat-{CHANCE[:20]}", CHANCE[:20], "API key"),
    ("slack xoxb-123456789012-abcdefGHIJKL", "abcdefGHIJKL", "API key"),
    ("maps AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "SyA1b2C3d4E5", "API key"),
    ("stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc", "API key"),
    ("AWS AKIAIOSFODNN7EXAMPLE here", "AKIAIOSFODNN7EXAMPLE", "AWS key"),
    ("aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY9", "wJalrXUtnFEMIK7MDENG", "token"),
    (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "dozjgNryP4J3jVmNHl0w5N",
        "token",
    ),
    (f"curl -H 'Authorization: Bearer {CHANCE}'", CHANCE, "credential"),
    ('{"Authorization": "Basic dXNlcjpodW50ZXIy"}', "dXNlcjpodW50ZXIy", "credential"),
    (f"send it as bearer {CHANCE} please", CHANCE, "bearer token"),
    ("postgres://app:hunter2@db.internal:5432/app", "hunter2", "password"),
    ("redis://:p@ss-w0rd@cache:6379", "ss-w0rd", "password"),
    ("password=hunter2", "hunter2", "password"),
    ("my password is Tr0ub4dor&3", "&3", "password"),
    ("The password is p@ss&word/1$x today.", "word/1", "password"),
    ("client_secret='Zx8~QwErTyUiOp'", "QwErTyUiOp", "secret"),
    ("AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==", "vdM02xNOcqFl", "token"),
    ("https://a.example/x?sv=1&sig=Zx8QwErTyUiOpAsDf12GhJkL34%3D&se=2", "QwErTyUiOpAs", "signature"),
    ("AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY.", "K7MDENG", "AWS secret"),
    ("password=QkGKHErUqQCK", "QkGKHErUqQCK", "password"),
    ("my password is sunflower", "sunflower", "password"),
    ("pw: x1YyI8Nu0I", "x1YyI8Nu0I", "password"),
    ("user: ada pass: EJWPRI77AL", "EJWPRI77AL", "password"),
    ("login ada / XjJGah861T", "XjJGah861T", "password"),
    ("mein Passwort ist b3A49p4Ir", "b3A49p4Ir", "password"),
    ("mon mot de passe est b3A49p4Ir", "b3A49p4Ir", "password"),
    ("mi contraseña es b3A49p4Ir", "b3A49p4Ir", "password"),
    ("la mia password è b3A49p4Ir", "b3A49p4Ir", "password"),
    ("minha senha é b3A49p4Ir", "b3A49p4Ir", "password"),
    ("mijn wachtwoord is b3A49p4Ir", "b3A49p4Ir", "password"),
    ("мой пароль b3A49p4Ir", "b3A49p4Ir", "password"),
    ("パスワードはb3A49p4Irです", "b3A49p4Ir", "password"),
    (f"my AWS secret access key is {CHANCE}", CHANCE, "token"),
    ("the API key for the bot is QkGKHErUqQCKaBWmLpXrTZdE", "QkGKHErUqQCK", "token"),
    ("Server=db;Password=Tr0ub4dor&3;Timeout=5", "Tr0ub4dor", "password"),
    ('"password": "correct horse"', "correct", "password"),
    ("DB_PASSWORD: 's3cr3t!'", "s3cr3t!", "password"),
    ("The wifi password is bluebird-42-fjord, write it down", "bluebird-42-fjord", "password"),
    ("psql --password hunter2 -h db", "hunter2", "password"),
    ("curl -u admin:hunter2! https://x.example", "hunter2!", "password"),
    (f"my token is {CHANCE}", CHANCE, "token"),
    ("secret: 9f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c5b4a3928", "token"),
    (f"https://x.example/cb?access_token={CHANCE}&state=1", CHANCE, "token"),
    ("api key `550e8400-e29b-41d4-a716-446655440000`", "550e8400", "token"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc\n-----END RSA PRIVATE KEY-----\nafter",
        "MIIEpAIBAAKCAQEA7",
        "private key",
    ),
    (
        '{"k": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\nBKcwggSj"}',
        "MIIEvQIBADANBgkqhkiG9w0B",
        "private key",
    ),
]
BENIGN = [
    "My password is wrong.",
    "My old password was stolen, and the new one is required.",
    "password=password, userPasswordField, MyVeryLongClassNameForTokens",
    "connect(password=db_password)",
    "My token is MyVeryLongClassNameForTokens",
    "Boarding pass: 12A, first pass: 3 errors",
    "Mein Passwort ist falsch. Le mot de passe est obligatoire. Пароль неверный.",
    "The API key for the bot is stored in the vault.",
    "commit 3f2a9c1d4e5b6a7f8c9d0e1f2a3b4c5d6e7f8a9b fixes it",
    "Fix token refresh in 3f2a9c1d4e5b6a7f8c9d0e1f2a3b4c5d6e7f8a9b",
    "order ORD-66543-B, invoice INV-2031-4471, reservation 8Z3QK2",
    "keep the keys in ~/.ssh/id_ed25519 and read /etc/passwd",
    "write to ana.silva@example.com about the password reset",
    "max_tokens=2048, token_count: 1234567890123, tokens: 12",
    "def login(user: str, password: str) -> Token: ...",
    "password = os.environ['DB_PASSWORD']; token = get_token(request)",
    '{"type": "object", "properties": {"password": {"type": "string"}}}',
    "the password is required and must have 12 characters",
    "password: reset it at help@example.com",
    "http://localhost:8080/path@v2 and https://x.example:443/a",
    "uuid 550e8400-e29b-41d4-a716-446655440000 of the job",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "class sk-folding-cube-container-1 and sk-learn-estimator-with-a-long-name",
    "docker run -u 1000:1000 image:1.2.3",
    "the secret of good bread is time; a token of our esteem",
    "pip install scikit-learn==1.5.2 && pytest tests/test_token_refresh_2024.py",
    "token: ${GITHUB_TOKEN}, password=<your password>, api_key=YOUR_API_KEY_HERE",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----",
    "primary key user_2031_id, foreign key order_2031_item_id",
    "API_KEY=sk-your-key-goes-here-please, api_key: sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "secret_key = sk-example-key-of-the-manual",
    "key=sk-loading-skeleton-row-item",
    "UserTokenRepository2 and secret-santa-2024-invites",
]


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_secrets_are_replaced_by_a_mark_of_their_kind(text: str, secret: str, kind: str) -> None:
    """The secret is gone, a mark names what it was, and redacting again changes nothing."""
    redacted = redact_secrets(text)
    assert secret not in redacted
    assert f"[secret redacted: {kind}]" in redacted
    assert redact_secrets(redacted) == redacted


@pytest.mark.parametrize("text", BENIGN)
def test_ordinary_text_stays(text: str) -> None:
    """Hashes, order numbers, paths, addresses, code and talk about secrets are left exactly as they are."""
    assert redact_secrets(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    """Only the value goes; the words that say what it was for are still there."""
    redacted = redact_secrets("before\npassword=hunter2, then postgres://app:hunter2@db:5432/app\nafter")
    assert redacted == (
        "before\npassword=[secret redacted: password], then postgres://app:[secret redacted: password]@db:5432/app\nafter"
    )


@given(st.text(st.sampled_from("abc01 -_=:/@.\"'\n"), max_size=200))
@example("000a':'")
def test_redacting_is_idempotent(text: str) -> None:
    """Whatever is written beside words of secrets, a second pass finds nothing more."""
    once = redact_secrets(f"password={text} token {text} bearer {text} https://a:{text}")
    assert redact_secrets(once) == once


@pytest.mark.parametrize(
    "piece", ["password=", "-----BEGIN PRIVATE KEY-----", "://a:", "token ", "eyJa.", "authorization: ", "a"]
)
def test_hostile_repetition_is_read_in_one_go(piece: str) -> None:
    """A text of half a million characters that begins a secret again and again is still read, with all of its end."""
    text = piece * (500_000 // len(piece))
    assert redact_secrets(f"{text} the end").endswith("the end")


def test_forged_mark_hides_nothing() -> None:
    """A text that begins like a mark, or has one of its own, is read for secrets all the same."""
    secret = "password=hunter2hunter2"
    for text in (f"[secret redacted: 1 {secret}", f"[secret redacted: password] {secret}"):
        assert "hunter2" not in redact_secrets(text)
