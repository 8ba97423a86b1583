"""Requests for work on a text: clauses that ask to translate, proofread, summarise or judge what stands behind them.

What is to be worked on is no order to who works on it. Words are looked up in tables; the clause is given as words in
lower case.

Source: own grammar of eleven languages, tuned on tests/data/others_words.jsonl.
"""

from collections.abc import Sequence
from typing import Final

from everfold.core.statements.rules import list_word_set

_TREAT: Final = (
    *(
        "summari",
        "sum",
        "tldr",
        "translat",
        "proofread",
        "proof",
        "spellcheck",
        "paraphras",
        "rephras",
        "reword",
        "explain",
        "interpret",
        "classif",
    ),
    *(
        "analys",
        "analyz",
        "annotat",
        "transcrib",
        "critique",
        "fass",
        "übersetz",
        "korrigier",
        "erklär",
        "résum",
        "tradui",
        "corrig",
        "expliqu",
    ),
    *(
        "resum",
        "traduc",
        "traduz",
        "correg",
        "corrij",
        "riassum",
        "spieg",
        "vertaal",
        "переведи",
        "перескажи",
        "объясни",
        "streszcz",
        "przetłumacz",
    ),
)
"""How words begin that ask for work on a text."""
_TREAT_THAT: Final = list_word_set(
    "shorten check correct improve polish edit rewrite answer reply respond rate judge evaluate review convert vat"
)
"""What people do with texts, and with other things too."""
_TRANSLATE: Final = list_word_set(
    "translate übersetz übersetze übersetzen übersetzt traduis traduisez traduire traduce traduzca traducir traduci traducete traduca tradurre"
    " traduz traduza traduzir vertaal vertalen översätt översätta oversæt oversætte переведи переведите перевести"
    " przetłumacz przetłumaczcie przetłumaczyć"
)
"""Verbs only: "Translations into German: ..." and "Translators from Berlin: ..." begin rules of the writer's own."""
_INTO: Final = list_word_set("into to from ins in nach aus en au al a para naar till til на na")
_POLITE: Final = list_word_set(
    "please pls now can could would will you bitte por per favor favore alsjeblieft пожалуйста proszę"
)
_LEAST_INTO: Final = 3
_MOST_INTO: Final = 5
"""How many words a request for a translation has: into a language, or from one into another."""
POINTING: Final = list_word_set(
    "this these those following below das ça cela ce cette ces este esta esto siguiente seguinte deze dit"
)
POINTING_STEMS: Final = ("folgend", "dies", "suivant", "quest", "эт")
TEXTS: Final = list_word_set(
    "mail e-mail email mails emails message messages letter article contract text document log logs output transcript page post tweet thread ticket"
    " issue review policy terms code snippet error traceback response reply report conversation chat essay story poem paragraph passage"
    " section excerpt abstract paper comment statement clause speech prompt readme file notice invoice description announcement newsletter blogpost"
    " lyrics quote sms dm memo minutes nachricht brief artikel vertrag rechnung protokoll courriel lettre contrat texte correo mensaje carta"
    " texto artículo contrato documento messaggio lettera testo articolo contratto mensagem artigo bericht tekst письмо письма текст сообщение статью"
    " статья договор voicemail whatsapp telegram imessage fax postcard"
)
_SUSPECT: Final = list_word_set("phishing spam scam fake legit genuine real safe fraud serious")
_MEANING: Final = list_word_set("mean say want make think")


def asks_for_work(words: Sequence[str]) -> bool:
    """Whether a clause asks for work on a text, or for what is to be thought of one."""
    held = frozenset(words)
    asked = next((at for at, word in enumerate(words) if word.startswith(_TREAT) or word in _TREAT_THAT), len(words))
    if any(word in POINTING or word in TEXTS or word.startswith(POINTING_STEMS) for word in words[asked + 1 :]):
        return True
    if not held.isdisjoint(POINTING) and not (
        held.isdisjoint(_SUSPECT) and ("what" not in held or held.isdisjoint(_MEANING))
    ):
        return True
    return bool(words) and words[-1].startswith(_TREAT) and "to" not in words[-2:]


def asks_to_translate(words: Sequence[str]) -> bool:
    """Whether a clause asks for nothing but a translation into a language: what it is of can only stand behind it.

    In English "in" tells the place of it, so that "Translate in the menu: ..." may be a rule.
    """
    asked = [word for word in words if word not in _POLITE]
    if len(asked) < _LEAST_INTO or asked[0] not in _TRANSLATE or asked[1] not in _INTO:
        return False
    return len(asked) <= _MOST_INTO and asked[:2] != ["translate", "in"]


def gives_text(words: Sequence[str]) -> bool:
    """Whether all that stands behind a clause is to be worked on; a lone word ("Translation:") is a field with a short entry."""
    return len(words) > 1 and (asks_for_work(words) or asks_to_translate(words))
