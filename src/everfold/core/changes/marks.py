"""The words by which a statement says itself that it takes the place of an older one, as rows, by language.

A new wording is one row with an example; `tests/unit/core/changes/test_marks.py` tries each. How the marks are
read stands in `told`.

Source: own grammar, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""

from typing import Final

from everfold.core.changes.ending_words import FOR_NOW
from everfold.core.changes.foreign_marks import FOREIGN_MARKS
from everfold.core.changes.kinds import END, VALUE, ChangeMark

_TO: Final = r"(?: (?:up|down|over|back|forward))?(?: from (?P<old>[^,;!?]+?))? (?:to|until) (?P<new>[^,;!?]+)"
_SHIFTED: Final = (
    r"(?:moved|postponed|rescheduled|changed|extended|raised|lowered|renamed|relocated|migrated|upgraded|delayed|pushed back|pushed|"
    r"brought forward|shifted|shortened|increased|reduced|put off|updated|reassigned|transferred|switched|lifted|scaled|reset|shrunk|put back|put forward)"
)

ENGLISH_MARKS: Final[tuple[ChangeMark, ...]] = (
    ChangeMark(
        "English",
        "corrects",
        r"^(?:no,? |oh,? |sorry,? )*(?:correction|typo|update|wrong|oops|my mistake|change of plans?)\b[:,!]?",
        "Correction: the code is 8822.",
    ),
    ChangeMark(
        "English",
        "corrects",
        r"\b(?:(?:sorry,? )?i meant(?: that)?|(?:no,? )?scratch that,?|forget (?:what|that) i said(?: [a-z]+)?,?|i was (?:wrong|mistaken)[:,]?|i (?:got|had) (?:it|that) wrong(?: before)?|i mis(?:read|spoke|typed|remembered)(?: it| that)?[:,]?"
        r"|(?:i have |i )?changed my mind[:,]?|make (?:it|that)\b[: ]|on second thoughts?,?|as i said|no,? wait,?|it turn(?:s|ed) out(?: that)?|turns out(?: that)?|i misspoke[:,]?|not what i said(?: [a-z]+)?|^(?:that|this|it)(?: has)?(?: just| since)? changed[:,;])",
        "I meant that the code is 8822.",
    ),
    ChangeMark(
        "English",
        "now",
        r"\b(?:actually|right now|now|from now on|these days|currently|as of (?:today|now|this (?:week|month))|(?:from|since) (?:today|tomorrow)|effective immediately)\b,?",
        "My code is now 8822.",
    ),
    ChangeMark("English", "instead", r"\binstead(?! of)\b,?", "My code is 8822 instead."),
    ChangeMark(
        "English",
        "rejects",
        rf"\b(?:instead of|rather than|in place of) {VALUE}{END}",
        "Use port 9090 instead of 8080.",
    ),
    ChangeMark("English", "rejects", r"\bnot (?P<old>[^,;!?]+?),? but (?:rather )?", "The code is not 4711 but 8822."),
    ChangeMark(
        "English", "rejects", rf"[,;:] ?(?:and )?(?:it is |that is )?not {VALUE}{END}", "The code is 8822, not 4711."
    ),
    ChangeMark(
        "English",
        "rejects",
        rf"\bi (?:said|told you|wrote)(?: that)? {VALUE}(?:[,;]| but| earlier| before)",
        "I said red, but my favourite colour is blue.",
    ),
    ChangeMark(
        "English",
        "rejects",
        r"\bit was (?P<old>[^,;!?]+?) (?:before|until now)\b",
        "It was 4711 before, now it is 8822.",
    ),
    ChangeMark(
        "English",
        "rejects",
        r"\b(?:is|are|am|does|do) not (?P<old>[^,;!?]+?)[,;.] (?:it|they|he|she|that|we|i) (?:is|are|am|do|does)\b",
        "It is not on level 3, it is on level 1.",
    ),
    ChangeMark(
        "English",
        "rejects",
        rf"\b(?:do not use|stop using|used to be|ignore|disregard|forget(?: about)?|is wrong:?) {VALUE}{END}",
        "Stop using port 8080.",
    ),
    ChangeMark("English", "rejects", rf"\bno longer {VALUE}{END}", "Our vet is Dr. Moor, no longer Dr. Klein."),
    ChangeMark(
        "English",
        "ends",
        r"\bno longer\b|\bnot\b.*\b(?:any ?more|any longer)\b|\b(?:stopped(?! (?:in|at|by|for|to|on|and)\b)|quit|gave up|given up|ceased)\b",
        "I no longer live in Graz.",
    ),
    ChangeMark(
        "English",
        "ends",
        r"\b(?:is|are|was|were|has been|have been|got) (?:cancell?ed|called off)\b",
        "The Rome trip is cancelled.",
    ),
    ChangeMark(
        "English",
        "moves",
        rf"(?P<subject>[^,;:!?]+?) (?:has |have |had |was |were |is |are |been |got |just |being |will be )*{_SHIFTED}{_TO}",
        "The meeting has been moved to Thursday.",
    ),
    ChangeMark(
        "English",
        "moves",
        rf"(?:they|we|i|he|she)(?: have| has)?(?: just)? {_SHIFTED} (?P<subject>(?:the|my|our|his|her|their) [^,;:!?]+?){_TO}",
        "They moved the interview to 9 May.",
    ),
    ChangeMark(
        "English",
        "switches",
        r"\b(?:switched|moved|migrated|changed|went|transferred|converted|renamed)\b[^,;!?]*? from (?P<old>[^,;!?]+?) to\b",
        "I switched from sales to support.",
    ),
    ChangeMark(
        "English",
        "switches",
        rf"\b(?:replaced|(?:left|dropped)(?!{FOR_NOW})|swapped) {VALUE}(?= with\b| by\b| for\b|[,;!?.]|$)",
        "We replaced Ansible with Terraform.",
    ),
    ChangeMark(
        "English",
        "corrects",
        r"\b(?:strike that|disregard (?:that|what i said)|ignore (?:that|what i said)|missed that(?: one)?|please note|my bad|let me correct (?:that|myself)|i need to correct (?:that|myself)|i stand corrected|i had that wrong|i was off|i mixed (?:it|that|them) up|i gave you the wrong [a-z]+)\b[:,.;]?",
        "Strike that, the code is 8822.",
    ),
    ChangeMark(
        "English",
        "now",
        r"\b(?:after all|in fact|by now|meanwhile|lately|recently|since (?:then|last|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?: [a-z]+)?|as of \w+|starting (?:today|this|next|from)\b|(?:has|have) become|became|going forward|nowadays|this time)\b,?",
        "The vet is Dr. Moor after all.",
    ),
    ChangeMark(
        "English",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:has |have |had |was |were |is |are |been |got |gets |just |now |being |will be )*(?:bumped(?: up| down)?|dropped|rose|went up|gone up|went down|gone down|came down|climbed|fell|grew|rebooked|slipped|swapped|promoted|downgraded|halved|doubled)(?: from (?P<old>[^,;!?]+?))? (?:to|for|on to|over to) (?P<new>[^,;!?]+)",
        "The rent went up to 950 euros.",
    ),
    ChangeMark(
        "English",
        "shifts",
        r"\b(?:ha(?:s|ve) (?:been )?|was |were |is |are |got |just )(?:changed|delayed|postponed|extended|rebooked|rescheduled|moved|updated|replaced|shifted|brought forward|pushed back|corrected|renewed|reassigned|relocated)\b",
        "The gate code has changed, it is 2222.",
    ),
    ChangeMark(
        "English",
        "shifts",
        r"\b(?:we|i|they|he|she)(?: have| has)?(?: just)? (?:changed|switched|moved|upgraded|raised|lowered|cut|swapped|renamed|migrated|replaced|updated|bumped|extended|shortened|rescheduled|sold|got a new|have a new)\b|\b(?:took over|takes over|new one)\b",
        "I sold the Skoda, my car is a Volvo.",
    ),
    ChangeMark(
        "English",
        "switches",
        r"\b(?:sold|quit|resigned from|retired from|got rid of|gave up|gave away|cancell?ed|broke up with|divorced|said goodbye to|moved out of|moved away from|phased out|retired|scrapped|ditched|abandoned) (?P<old>[^,;!?]+?)(?= and\b| for\b| in favou?r\b| last\b| yesterday\b|[,;!?.]|$)",
        "I quit my job at Acme.",
    ),
)

MARKS: Final = (*ENGLISH_MARKS, *FOREIGN_MARKS)
"""All marks, those of one language together."""
