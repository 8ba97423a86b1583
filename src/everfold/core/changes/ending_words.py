"""The words by which a statement says that something is left, or is not there any more, as rows.

A new wording is one row with an example; `tests/unit/core/changes/test_given_up.py` tries each. How they are read
stands in `given_up` and `left_things`.

Source: own lists, English, tuned on the pairs that docs/adr/0031-what-replaces-what.md tells of.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

WORD: Final = re.compile(r"[a-z]+")


FOR_NOW: Final = (
    r" [^;.!?]*?\b(?:early|late|at (?:\d|noon|night|midnight|home|lunch)|this (?:morning|afternoon|evening|week|weekend)|tonight|today|an hour|minutes|hours"
    r"|by (?:car|train|bus|bike|plane)|on the (?:bus|train|table|desk|plane|way)|behind|in the (?:car|office|rain|fridge)|for (?:a|the|two|three|some) (?:day|night|week|weekend|month|while|days|nights|weeks)"
    r"|(?:and|then) (?:\w+ )?(?:went (?:home|for|out|back)|drove|had|came|noticed|walked|fell|slept|washed|met|saw)|rejoined|reinstalled|luckily|then)\b"
)
"""Who leaves early, by train or for a week comes back, and what happens in the middle of a story ends nothing."""


_THIS_TIME: Final = r" [^;.!?]*?\b(?:today|tonight|this (?:morning|afternoon|evening|week|weekend|time)|last week because|because i (?:have|had)|(?:is|was) ill|flu|a cold)\b"
"""What is cancelled once takes place again."""


class Ending(NamedTuple):
    """One wording.

    Attributes:
        wording: A pattern that begins with a plain word.
        example: A statement with it.
        old: What the example leaves, or what is gone.
        is_final: Whether it is so for good: who is sick or away comes back.
    """

    wording: str
    example: str
    old: str
    is_final: bool = True


LEAVING: Final[tuple[Ending, ...]] = (
    Ending("ripped out", "We ripped out the carpet.", "carpet"),
    Ending(rf"closed(?= (?:the|my|our|his|her|their)\b)(?!{FOR_NOW})", "I closed my bank account.", "bank account"),
    Ending("fired", "We fired the gardener.", "gardener"),
    Ending("outgrew", "She outgrew the bike.", "bike"),
    Ending("outgrown", "He has outgrown the cot.", "cot"),
    Ending("grew out of", "She grew out of the boots.", "boots"),
    Ending("cut out", "I cut out sugar.", "sugar"),
    Ending("uninstalled", "I uninstalled Slack.", "slack"),
    Ending(rf"deleted(?!{FOR_NOW})", "I deleted Slack.", "slack"),
    Ending(rf"dropped(?!{FOR_NOW})", "I dropped Latin.", "latin"),
    Ending("dumped", "We dumped Jenkins.", "jenkins"),
    Ending("ditched", "We ditched Jenkins.", "jenkins"),
    Ending("scrapped", "We scrapped the raffle.", "raffle"),
    Ending("quitting", "I am quitting the gym.", "gym"),
    Ending("quit", "I quit the gym.", "gym"),
    Ending(rf"cancelled(?!{_THIS_TIME})", "I cancelled Netflix.", "netflix"),
    Ending(rf"canceled(?!{_THIS_TIME})", "I canceled Netflix.", "netflix"),
    Ending("gave up(?: on)?", "I gave up coffee.", "coffee"),
    Ending("given up(?: on)?", "I have given up on Latin.", "latin"),
    Ending("got rid of", "We got rid of the piano.", "piano"),
    Ending(rf"leaving(?!{FOR_NOW})", "I am leaving Kite.", "kite"),
    Ending(rf"left(?!{FOR_NOW})", "I left Kite.", "kite"),
    Ending(r"sold(?! all\b)", "I sold the Skoda.", "skoda"),
    Ending("traded in", "I traded in the Skoda.", "skoda"),
    Ending(r"returned(?! (?:from|to)\b)", "I returned the loom.", "loom"),
    Ending("replaced", "We replaced the boiler.", "boiler"),
    Ending(rf"finished(?! by\b|{FOR_NOW})", "I finished the thesis.", "thesis"),
    Ending("done with", "I am done with Latin.", "latin"),
    Ending("moved on from", "We moved on from Jenkins.", "jenkins"),
    Ending("moved away from", "We moved away from Jenkins.", "jenkins"),
    Ending("moved out of", "I moved out of the flat.", "flat"),
    Ending("moving out of", "I am moving out of the flat.", "flat"),
    Ending("moved [^,;!?]*? (?:off|out of)", "We moved all data off Dropbox.", "dropbox"),
    Ending("decided against", "We decided against Rome.", "rome"),
    Ending("changed (?:my|our) mind about", "I changed my mind about Rome.", "rome"),
    Ending("gone off", "I have gone off olives.", "olives"),
    Ending("went off", "I went off olives.", "olives"),
    Ending("split up", "I split up with Mona.", "mona"),
    Ending("broke up with", "I broke up with Mona.", "mona"),
    Ending("broke off", "She broke off the engagement.", "engagement"),
    Ending("threw out", "We threw out the sofa.", "sofa"),
    Ending("abandoned", "We abandoned the wiki.", "wiki"),
    Ending("phased out", "We phased out Jenkins.", "jenkins"),
    Ending("said goodbye to", "We said goodbye to the caravan.", "caravan"),
    Ending("walked away from", "He walked away from the deal.", "deal"),
    Ending("switched away from", "We switched away from Jenkins.", "jenkins"),
    Ending(rf"no more(?!{FOR_NOW})", "No more olives for me.", "olives"),
    Ending("took (?:me|us) off", "The doctor took me off iron.", "iron"),
    Ending("retired as", "She retired as treasurer.", "treasurer"),
    Ending("stepped down (?:as|from)", "I stepped down as treasurer.", "treasurer"),
    Ending("handed (?:over|in|on)", "I handed in the badge.", "badge"),
    Ending("gave back", "I gave back the badge.", "badge"),
    Ending("gave notice (?:at|on)", "I gave notice on the flat.", "flat"),
    Ending("let go of", "We let go of the allotment.", "allotment"),
    Ending("resigned from", "I resigned from the board.", "board"),
    Ending(rf"shut down(?!{FOR_NOW})", "We shut down the wiki.", "wiki"),
    Ending("swapped", "I swapped the Skoda for a Volvo.", "skoda"),
)
"""Who does it has the thing no longer."""
WITHDRAWING: Final[tuple[Ending, ...]] = (
    Ending("stopped going to", "I stopped going to yoga.", "yoga"),
    Ending("quit going to", "I quit going to yoga.", "yoga"),
    *(
        Ending(f"{verb} out of", f"I {verb} out of the choir.", "choir")
        for verb in "pull pulled pulling drop dropped dropping back backed backing bow bowed bowing".split()
    ),
    Ending("withdrew from", "I withdrew from the choir.", "choir"),
    Ending("withdrawn from", "I have withdrawn from the choir.", "choir"),
    Ending("bailed on", "I bailed on the choir.", "choir"),
)
"""Who does it takes part no longer, whatever they did there."""
OWN: Final[tuple[Ending, ...]] = (
    Ending("give up", "I had to give up the choir.", "choir"),
    Ending("sell", "I had to sell the boat.", "boat"),
    Ending("drop", "I had to drop Latin.", "latin"),
    Ending(rf"stopped(?! (?:in|at|by|for|to|on|and)\b|{FOR_NOW})", "I stopped the insulin.", "insulin"),
    Ending("completed", "I completed the thesis.", "thesis"),
    Ending("resign (?:as|from)", "I had to resign as treasurer.", "treasurer"),
    Ending("resigned as", "I resigned as treasurer.", "treasurer"),
    Ending("gave away", "I gave away the loom.", "loom"),
    Ending("retired from", "I retired from the railway.", "railway"),
    Ending("ended", "I ended the lease.", "lease"),
    Ending(rf"closed(?!{FOR_NOW})", "I closed both accounts.", "accounts"),
    Ending("unsubscribed from", "I unsubscribed from the newsletter.", "newsletter"),
    Ending("disbanded", "We disbanded the quartet.", "quartet"),
)
"""Who does it has the thing no longer, where it is the speaker."""
GONE: Final[tuple[Ending, ...]] = (
    Ending("closed down", "The bakery closed down.", "bakery"),
    Ending("shut down", "The bakery has shut down.", "bakery"),
    Ending("went out of business", "The bakery went out of business.", "bakery"),
    Ending("passed away", "Our vet passed away.", "vet"),
    Ending("died", "The goldfish died.", "goldfish"),
    Ending("ended", "The course ended.", "course"),
    Ending("over", "The course is over.", "course"),
    Ending("dead", "The hamster is dead.", "hamster"),
    Ending("gone", "The piano is gone.", "piano", is_final=False),
    Ending("sold", "The boat is sold.", "boat"),
    Ending("stolen", "My bike got stolen.", "bike"),
    Ending("dissolved", "The club was dissolved.", "club"),
    Ending("discontinued", "The series was discontinued.", "series"),
    Ending("cancelled", "The raffle was cancelled.", "raffle"),
    Ending("canceled", "The raffle was canceled.", "raffle"),
    Ending("folded", "The club folded.", "club"),
    Ending("disbanded", "The quartet has disbanded.", "quartet"),
    Ending("went downhill", "The bakery went downhill.", "bakery", is_final=False),
    Ending(r"left(?: us| me| the \w+)?", "Karen left us.", "karen", is_final=False),
    Ending("stepped (?:down|back)", "Karen stepped down.", "karen", is_final=False),
    Ending("moved (?:out|away|on)", "Karen moved away.", "karen", is_final=False),
    Ending("retired", "Karen retired.", "karen", is_final=False),
    Ending("resigned", "Karen resigned.", "karen", is_final=False),
    Ending("quit", "Karen quit.", "karen", is_final=False),
    Ending("out(?: sick)?", "Karen is out sick.", "karen", is_final=False),
    Ending("away", "Karen is away.", "karen", is_final=False),
    Ending("sick", "Karen is sick.", "karen", is_final=False),
    Ending(r"on [\w ]*leave", "Karen is on sick leave.", "karen", is_final=False),
    Ending(r"went on [\w ]*leave", "Karen went on leave.", "karen", is_final=False),
    Ending(r"too [\w ]+?", "The kiln is too small.", "kiln", is_final=False),
    Ending(r"way too [\w ]+?", "The kiln is way too small.", "kiln", is_final=False),
    Ending("fell through", "The lease fell through.", "lease", is_final=False),
    Ending("broke(?: down)?", "The kiln broke down.", "kiln", is_final=False),
    Ending(r"being \w+ed", "The kiln is being repaired.", "kiln", is_final=False),
    Ending("can not", "Karen can not.", "karen", is_final=False),
    Ending("could not", "Karen could not.", "karen", is_final=False),
    Ending("full", "The hostel is full.", "hostel", is_final=False),
    Ending("sold out", "The matinee is sold out.", "matinee", is_final=False),
    Ending("fully booked", "The hostel is fully booked.", "hostel", is_final=False),
    Ending("had to cancel", "Karen had to cancel.", "karen", is_final=False),
    Ending("backed out", "Karen backed out.", "karen", is_final=False),
    Ending("pulled out", "Karen pulled out.", "karen", is_final=False),
    Ending("dropped out", "Karen dropped out.", "karen", is_final=False),
    Ending("injured", "Karen is injured.", "karen", is_final=False),
    Ending("fired", "Karen was fired.", "karen", is_final=False),
    Ending("revoked", "The permit was revoked.", "permit", is_final=False),
    Ending("withdrawn", "The permit was withdrawn.", "permit", is_final=False),
    Ending("lapsed", "The permit lapsed.", "permit", is_final=False),
    Ending("expired", "The permit expired.", "permit", is_final=False),
    Ending("history", "The raffle is history.", "raffle", is_final=False),
    Ending(r"off(?=,| for\b)", "The raffle is off, sadly.", "raffle", is_final=False),
    Ending("scrapped", "The raffle was scrapped.", "raffle", is_final=False),
    Ending("dropped", "The raffle was dropped.", "raffle", is_final=False),
    Ending("suspended", "The permit was suspended.", "permit", is_final=False),
    Ending("abolished", "The fee was abolished.", "fee", is_final=False),
    Ending("terminated", "The lease was terminated.", "lease", is_final=False),
    Ending("deleted", "The branch was deleted.", "branch", is_final=False),
    Ending("removed", "The fee was removed.", "fee", is_final=False),
    Ending("taken away", "The bench was taken away.", "bench", is_final=False),
    Ending(
        r"not (?:works?|working|valid|in use)(?: any ?more)?",
        "The badge is not valid any more.",
        "badge",
        is_final=False,
    ),
    Ending(
        r"no longer (?:works?|working|valid|in use)",
        "The badge is no longer valid.",
        "badge",
        is_final=False,
    ),
    Ending("lost", "The badge is lost.", "badge", is_final=False),
    Ending("ousted", "Karen was ousted.", "karen", is_final=False),
    Ending("replaced", "The boiler was replaced.", "boiler", is_final=False),
    Ending("dethroned", "Karen was dethroned.", "karen", is_final=False),
    Ending("sacked", "Karen was sacked.", "karen", is_final=False),
    Ending("dismissed", "Karen was dismissed.", "karen", is_final=False),
    Ending("called off", "The raffle was called off.", "raffle", is_final=False),
    Ending("boring", "Latin is boring.", "latin", is_final=False),
    Ending("done", "The thesis is done.", "thesis", is_final=False),
)
"""What it is said of is not there any more."""


def is_out_of_power(found: re.Match[str]) -> bool:
    """Whether it is a device of which one of `GONE` says that it is dead: it is charged again."""
    return _DEAD.search(found[0]) is not None and _DEVICES.search(found["old"]) is not None


_DEAD: Final = re.compile(r"\b(?:died|dead)$")
_DEVICES: Final = re.compile(r"\b(?:phone|laptop|computer|tablet|watch|camera|battery|speaker|car)$")


def join(endings: Iterable[Ending]) -> str:
    """The wordings as the branches of one pattern."""
    return "|".join(one.wording for one in endings)


def list_cues(endings: Iterable[Ending]) -> frozenset[str]:
    """The words that the wordings begin with: of them one stands wherever a wording is found."""
    return frozenset(word for one in endings for word in WORD.findall(one.wording)[:1])
