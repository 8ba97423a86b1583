"""Secrets taken out of a text before a model reads it that is not the user's own turn.

What has a shape of its own (keys of known makers, private keys, tokens in three signed parts) goes wherever it stands.
What has none goes only beside a word that says what it is: after `password=`, in a URL before the host, behind the word
`token`. Everything else stays, random as it may look: hashes of commits and order numbers are what digests are for.

Every pattern is bounded in each of its parts and begins with a literal or a bounded class, so the time is linear.

Source: DESIGN 3.4 and 4, secrets are redacted before any model call that is not the user's own turn; the shapes are
those that the makers document.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

_MOST_KEY_CHARS: Final = 16_384
"""How far the end of a private key is looked for. Source: RFC 7468 form of an RSA key of 16,384 bits is 12,800 long."""
_KEY_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY: Final = re.compile(r"(?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{16,80}){0,300}")

_SHAPED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("token", re.compile(r"\beyJ[\w-]{8,2000}\.eyJ[\w-]{4,6000}\.[\w-]{4,2000}")),
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b")),
    (
        "API key",
        re.compile(
            r"\b(?:sk-(?:ant|proj|or|svcacct|admin)-[\w-]{16,400}|[srp]k_(?:live|test)_[A-Za-z0-9]{10,200}|gh[pousr]_[A-Za-z0-9]{30,255}"
            r"|github_pat_\w{22,255}|glpat-[\w-]{20,100}|xox[abeoprs]-[\w-]{10,250}|xapp-[\w-]{20,250}|AIza[\w-]{35}|hf_[A-Za-z0-9]{30,60}"
            r"|gsk_[A-Za-z0-9]{40,80}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,400}|SG\.[\w-]{16,40}\.[\w-]{16,80}|ya29\.[\w-]{20,400}"
            r"|do[opr]_v1_[a-f0-9]{64}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}|dckr_pat_[\w-]{20,60}|AGE-SECRET-KEY-1[A-Z0-9]{20,80}"
            r"|whsec_[A-Za-z0-9+/=]{20,80}|key-[0-9a-f]{32}\b|\d{8,10}:AA[\w-]{33})"
        ),
    ),
    ("webhook", re.compile(r"(?<=hooks\.slack\.com/services/)[A-Z0-9]{6,14}/[A-Z0-9]{6,14}/\w{16,40}")),
)
_SHAPES: Final = (
    "eyJ AKIA ASIA ABIA ACCA sk- k_live_ k_test_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox xapp- AIza hf_ gsk_ npm_ pypi- SG. ya29. _v1_ shp"
    " dckr_pat_ AGE-SECRET whsec_ key- :AA hooks.slack.com"
).split()
_PLAIN_SK: Final = re.compile(r"\bsk-(?P<value>[A-Za-z0-9_-]{20,200})")
_ASSIGNED_SK: Final = re.compile(
    r"(?P<before>(?:api|access|auth|secret|private)[_ -]?(?:key|token)?[\"'`]?\s{0,3}(?:[:=]|\bis\b)\s{0,3}[\"'`]?)(?P<value>sk[-_][\w-]{16,200})",
    re.IGNORECASE,
)
"""A key behind its own name is one although its letters do not look like chance."""
_SHOWN_KEY: Final = re.compile(
    r"your|example|x{3}|placeholder|dummy|sample|redacted|changeme|fake|here\b|\btest[-_]key", re.IGNORECASE
)

_IN_URL: Final = re.compile(r"(?<=://)(?P<before>[^\s:/@?#\"'<>]{0,80}:)(?P<value>[^\s/\"'<>]{1,128})(?=@)")
_HEADER: Final = re.compile(
    r"(?P<before>\b(?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|apikey)\s{1,3})?)(?P<value>[\w.~+/=-]{8,4000})",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"(?P<before>\bbearer\s{1,3})(?P<value>[\w.~+/=-]{16,4000})", re.IGNORECASE)
_FLAG: Final = re.compile(
    r"(?P<before>(?<!\w)--?(?:password|passwd|pass|token|api-key|secret|auth-token|access-token)[ =][\"']?)(?P<value>[^\s\"']{4,200})"
)
_LOGIN: Final = re.compile(
    r"(?P<before>(?<=\s)(?:-u|--user)[ =][\"']?[\w.@+-]{1,60}:)(?P<value>[^\s\"':@]{4,100})(?=[\s\"']|$)"
)
_PASSWORD_WORDS: Final = (
    "password passwd passphrase passcode pwd passwort kennwort contraseña contrasena senha wachtwoord пароль パスワード 暗証番号 密码 密碼"
    " 비밀번호"
).split()
_PASSWORD: Final = re.compile(
    rf"(?P<before>(?:{'|'.join(_PASSWORD_WORDS)}|mot de passe)\d?[\"'\]`]{{0,2}}(?: (?:for|für|pour|para|per|voor|для) [^\n:=.,;]{{1,40}}?)?"
    r"(?:\s{0,3}(?:[:=\uff1a]|=>|:=)\s{0,3}|\s{1,3}(?:is|was|ist|war|lautet|est|es|è|é)(?: now| jetzt)?:?\s{1,3}|\s{0,2}(?:は|是|는|은)\s{0,2}|(?<=ь)\s{1,3}[—-]?\s{0,3}))"
    r"(?:(?P<mark>[\"'`])(?P<quoted>[^\"'`\n]{4,100})(?=(?P=mark))|(?P<value>(?:[^\s\"'`;&]|&(?![\w.-]{1,40}=)){4,200}))",
    re.IGNORECASE,
)
_SHORT_PASSWORD: Final = re.compile(
    r"(?P<before>(?<![\w-])(?:pw|pass|pin code)[\"']?\s{0,2}[:=]\s{0,3}[\"']?|\blogin:? [\w.@+-]{1,60} / )(?P<value>[^\s\"'`;&,]{4,100})",
    re.IGNORECASE,
)
_OWN_PASSWORD: Final = re.compile(
    r"(?P<before>\b(?:my|our|his|her) [^\n.:;,]{0,40}\bpassword (?:is|was)(?: now)? )(?P<value>[a-z]{6,40})(?=[.!]?(?:$|\s*\n|[.!] ))",
    re.IGNORECASE | re.MULTILINE,
)
_ASSIGNED: Final = re.compile(
    r"(?P<before>(?:client|app|consumer|shared|webhook)[_ -]?secret[\"']?\s{0,3}[:=]\s{0,3}[\"'])(?P<value>[^\s\"']{8,200})(?=[\"'])",
    re.IGNORECASE,
)
"""In quotation marks, where a secret may be shorter than one that stands bare."""
_SIGNED: Final = re.compile(
    r"(?P<before>[?&;](?:sig|signature|x-amz-signature)=)(?P<value>[\w%+/=-]{20,200})", re.IGNORECASE
)
_AWS_SECRET: Final = re.compile(
    r"(?P<before>\b(?:AKIA|ASIA)[A-Z2-7]{16}\W{1,4}(?:(?:and|with|the|secret|is|key)\W{1,3}){0,4})(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
"""The second half of a pair. Source: IAM's own form of an access key id and its secret of 40 characters."""
_NAMED: Final = re.compile(
    r"(?P<before>(?:(?:account|master|shared)[_ -]?key|secret(?:[_ -]?access)?(?:[_ -]?key)?|api[_ -]?key|access[_ -]?key(?:[_ -]?id)?|auth[_ -]?key|private[_ -]?key|signing[_ -]?key"
    r"|encryption[_ -]?key|credentials?|token|bearer|passwords?|passphrase)(?: for (?:the |my |our )?[\w.-]{1,30}(?: [\w.-]{1,30})?(?= (?:is|was)\b|:))?"
    r"(?:[\s:=>\"'`*,\]]|\b(?:is|was|now|here|to|value|key|be|set)\b){1,24})(?P<value>[\w+/=.~-]{16,400})",
    re.IGNORECASE,
)
_PASSWORD_HINTS: Final = (*_PASSWORD_WORDS, "mot de passe")
_NAMES: Final = (
    "secret",
    "account",
    "master",
    "shared",
    "api",
    "access",
    "auth",
    "private",
    "signing",
    "encryption",
    "credential",
    "token",
    "bearer",
    "pass",
)
_MARK: Final = "[secret redacted: "
_MARKS: Final = re.compile(r"(\[secret redacted: [A-Za-z ]{1,20}\])")
_FLAGS: Final = ("--pass", "-pass", "-token", "-api-key", "-secret", "-auth-token", "-access-token")

_LONG: Final = re.compile(r"[\w+/=.~-]{16}")

_PLACEHOLDER: Final = re.compile(
    r"^(?:[<{\[($%*.•]|x{3}|\\?u?\$\{|your|my_|none\b|null\b|true\b|false\b|str(?:ing)?\b|int\b|bool\b|optional\b|required\b|changeme\b|example|redacted|undefined\b"
    r"|os\.|env\.|process\.|self\.|request|config|settings|get|input|form|field|hash)",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"[A-Za-z_][\w.]{0,80}[(\[]")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SPLIT: Final = re.compile(r"[-_./+=~:]")
_ODD_CASE: Final = re.compile(r"[A-Z]{2}|[A-Z][a-z](?=[A-Z])")
"""Where the case is not that of words that are written together, each with a capital."""
_RARE_RUN: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{6}", re.IGNORECASE)
"""Six consonants in a row, which words of the languages written here hardly have."""
_CHARS_PER_ODD: Final = 5
"""How many letters there are at most for each place of odd case. By chance there are some three; an abbreviation makes two
in a name of twelve. Source: own count over 300 random texts of letters for each length from 8 to 40."""
_NO_PASSWORD: Final = re.compile(
    r"(?:.*(?:ed|ing|able|ible|ly)|wrong|lost|gone|right|correct|secure|safe|strong|weak|unknown|missing|invalid|valid|empty|short|public"
    r"|private|secret|broken|stolen|hidden|written|known|different|simple|complex|impossible|terrible|important|sensitive|stale|unique|useless|"
    r"temporary|permanent|incorrect|insecure|crucial|perfect|better|longer|shorter|always|never|still|already)",
    re.IGNORECASE,
)
"""What is said of a password in one word."""
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[A-Za-z]")
_SIGN: Final = re.compile(r"[\d!@#$%^&*+?]")
_LEAST_LETTERS: Final = 8
_LEAST_KINDS: Final = 4
_RANDOM_CHARS: Final = 12
_RANDOM_BITS: Final = 3.0
"""Bits a character. Source: own measurement; hexadecimal digits of 32 characters have 3.4 or more, words of one case with
numbers behind them under 3 where they are short."""


def redact_secrets(text: str) -> str:
    """The text with each secret replaced by a mark that names its kind: `[secret redacted: password]`.

    The words around it stay, so that it can still be said that a password was set. Redacting twice changes nothing
    more. O(length), some 10 to 30 microseconds for a message.
    """
    if _MARK not in text:
        return _redact(text)
    return "".join(part if at % 2 else _redact(part) for at, part in enumerate(_MARKS.split(text)))


def _redact(text: str) -> str:
    """The same for text without marks: the word in a mark names no secret behind it."""
    if "PRIVATE KEY" in text:
        text = _redact_private_keys(text)
    if any(shape in text for shape in _SHAPES):
        text = _AWS_SECRET.sub(_replacing("AWS secret", _is_aws_secret), text)
        for kind, pattern in _SHAPED:
            text = pattern.sub(_mark(kind), text)
        text = _PLAIN_SK.sub(_replacing("API key", _is_key), text)
        text = _ASSIGNED_SK.sub(_replacing("API key", _is_assigned_key), text)
    if "://" in text:
        text = _IN_URL.sub(_replacing("password", _is_written_out), text)
    return _redact_named(text)


def _redact_named(text: str) -> str:
    """The same for what only the word before it tells."""
    lowered = text.lower()
    if "authorization" in lowered:
        text = _HEADER.sub(_replacing("credential", _is_written_out), text)
    if "bearer" in lowered:
        text = _BEARER.sub(_replacing("bearer token", _is_random), text)
    if any(flag in lowered for flag in _FLAGS):
        text = _FLAG.sub(_replacing("password", _is_written_out), text)
    if "-u" in text:
        text = _LOGIN.sub(_replacing("password", _is_password), text)
    if "password" in lowered:
        text = _OWN_PASSWORD.sub(_replacing("password", _is_word_alone), text)
    if any(word in lowered for word in _PASSWORD_HINTS):
        text = _PASSWORD.sub(_replace_password, text)
    if "pass" in lowered or "pw" in lowered or "login" in lowered or "pin code" in lowered:
        text = _SHORT_PASSWORD.sub(_replacing("password", _is_password), text)
    return _redact_keys(text, lowered)


def _redact_keys(text: str, lowered: str) -> str:
    """The same for keys and tokens behind their names."""
    if "secret" in lowered:
        text = _ASSIGNED.sub(_replacing("secret", _is_password), text)
    if "sig" in lowered and _LONG.search(text):
        text = _SIGNED.sub(_replacing("signature", _is_random), text)
    if any(name in lowered for name in _NAMES) and _LONG.search(text):
        text = _NAMED.sub(_replacing("token", _is_random), text)
    return text


def _mark(kind: str) -> str:
    return f"{_MARK}{kind}]"


def _redact_private_keys(text: str) -> str:
    """Each private key with its lines; one without an end loses the lines that look like its body."""
    parts: list[str] = []
    at = 0
    last_end = text.rfind("-----END")
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < at:
            continue
        reach = min(begin.end() + _MOST_KEY_CHARS, last_end + len("-----END PRIVATE KEY BLOCK-----") + 30)
        end = _KEY_END.search(text, begin.end(), reach) if last_end > begin.end() else None
        body = _KEY_BODY.match(text, begin.end())
        stop = end.end() if end else (body.end() if body else begin.end())
        if stop > begin.end():
            parts += [text[at : begin.start()], _mark("private key")]
            at = stop
    return "".join([*parts, text[at:]])


def _replacing(kind: str, is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    """A replacement that puts the mark in the place of the value where it is a secret."""

    def replace(match: re.Match[str]) -> str:
        value = match["value"]
        if not is_secret(value):
            return match[0]
        return f"{match.groupdict().get('before') or ''}{_mark(kind)}"

    return replace


def _replace_password(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    if quoted is not None:
        return f"{match['before']}{match['mark']}{_mark('password')}" if _is_written_out(quoted) else match[0]
    value: str = match["value"]
    bare = value.rstrip(",.)]}")
    return f"{match['before']}{_mark('password')}{value[len(bare) :]}" if _is_password(bare) else match[0]


def _is_written_out(value: str) -> bool:
    """Whether it is a value itself: no placeholder, no reference to where it is kept."""
    return len(value) >= 3 and not _PLACEHOLDER.match(value) and not _REFERENCE.match(value)  # noqa: PLR2004  (shorter is none)


def _is_password(value: str) -> bool:
    """Whether what stands bare after `password` is one: words alone say something about it, an address where it goes."""
    if not _is_written_out(value) or not (_SIGN.search(value) or _is_letter_chance(value)):
        return False
    if not _LETTER.search(value) and len(value) <= 5:  # noqa: PLR2004  (a PIN has more)
        return False
    return not (value[0] in "/~" or ("@" in value and "." in value.partition("@")[2]))


def _is_key(value: str) -> bool:
    """Whether one part of what follows `sk-` looks like chance; a name of words and numbers does not."""
    return max((len(part) for part in _SPLIT.split(value) if _is_chance(part)), default=0) >= _RANDOM_CHARS


def _is_assigned_key(value: str) -> bool:
    """Whether what is assigned to the name of a key is one, and not what stands in a manual for it."""
    return _SHOWN_KEY.search(value) is None and len(set(value)) >= _RANDOM_CHARS


def _is_aws_secret(value: str) -> bool:
    """Whether 40 characters are a secret and no path or hash: they hold small letters, capitals and digits."""
    return all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))


def _is_random(value: str) -> bool:
    """Whether what stands beside the word `token` is one: long, with letters and digits as if by chance, and no path."""
    if not _is_written_out(value) or value[0] in "/~." or value.startswith("--"):
        return False
    if _UUID.fullmatch(value):
        return True
    return any(len(part) >= _RANDOM_CHARS and _is_chance(part) for part in _SPLIT.split(value))


def _is_word_alone(value: str) -> bool:
    """Whether one word behind "my password is" is the password, not what is said of it."""
    return _NO_PASSWORD.fullmatch(value) is None


def _is_letter_chance(part: str) -> bool:
    """Whether letters alone look like chance: by their case, or by consonants that no word has in a row."""
    if len(part) < _LEAST_LETTERS or not part.isascii() or not part.isalpha():
        return False
    rare = _RARE_RUN.search(part)
    is_rare = rare is not None and len(set(rare[0].lower())) >= _LEAST_KINDS
    return is_rare or len(_ODD_CASE.findall(part)) * _CHARS_PER_ODD >= len(part)


def _is_chance(part: str) -> bool:
    if _is_letter_chance(part):
        return True
    digits, letters = len(_DIGIT.findall(part)), len(_LETTER.findall(part))
    if digits < 2 or letters < 2:  # noqa: PLR2004  (one digit ends many a name)
        return False
    counts = Counter(part)
    bits = -sum(count / len(part) * math.log2(count / len(part)) for count in counts.values())
    return bits >= _RANDOM_BITS
