"""Phrases by which an item is judged, as data: who the person is, small talk, advice, and words that tell no matter.

A row has an example of what its pattern finds, and, where it has exceptions, one of what they keep
out. The examples are
tests. Patterns are searched for in a sentence in lower case with plain apostrophes.

Source: own lists, drawn up for English with the plainest forms of a few languages; tuned on the first two conversations of
locomo-dev and on two companion chats.
"""

from typing import Final, NamedTuple

from everfold.core.statements.rules import KIN_WORDS, STATES_OF_BEING

_KIN_CUES: Final = f"{KIN_WORDS.replace(' boss manager', '')} grandma grandmother grandpa grandfather aunt uncle cousin nephew niece twins"
_KIN: Final = f"(?:{'|'.join(_KIN_CUES.split())})"
_PETS: Final = "dog cat puppy kitten parrot budgie rabbit hamster horse pony turtle tortoise greyhound"
_PET_CUES: Final = " ".join(f"{pet} {pet}s" for pet in _PETS.split())
_PET: Final = f"(?:{'|'.join(_PETS.split())})s?"
_NO_STATES: Final = frozenset("from years based born lactose gluten engaged blind single intolerant".split())
_BEING_CUES: Final = " ".join(["trans", *(word for word in STATES_OF_BEING.split() if word not in _NO_STATES)])
_BEING: Final = f"(?:{'|'.join(_BEING_CUES.split())})"
_JOBS: Final = (
    "teacher nurse doctor engineer developer designer student writer artist driver lawyer chef electrician carpenter"
    " accountant therapist counselor librarian farmer dancer musician photographer widow widower"
)
_ONE: Final = r"(?:woman|man|girl|boy|person|parent|mother|father|mom|mum|dad|student|teacher|nurse|artist|engineer)"
_HEALTH: Final = (
    r"(?:diabetes|asthma|adhd|epilepsy|migraines?|arthritis|c(?:o)?eliac disease|dementia|high blood pressure)"
)


class Phrase(NamedTuple):
    """One row.

    Attributes:
        pattern: What is searched for.
        example: A sentence that it finds.
        counter: One that only its exceptions keep out; empty without any.
        cues: Words without one of which it is not tried; a row without any is tried on text that is not ASCII.
    """

    pattern: str
    example: str
    counter: str = ""
    cues: str = ""


IDENTITY: Final[tuple[Phrase, ...]] = (
    Phrase(
        r"^(?:hi|hello|hey|good \w+)\b[,! ]*(?:there[,! ]*)?(?:i'm|i am|this is) (?!so\b|just\b|not\b|an?\b|the\b|my\b|in\b|at\b|on\b|here\b|new\b|back\b|sorry\b|it\b|\w+ing\b)\w+(?:[,.!]| and\b| from\b|$)",
        "Hi, I'm Ilse, nice to meet you.",
        "Hi, I'm looking for a tent.",
        cues="hi hello hey good",
    ),
    Phrase(
        r"\bmy (?:\w+ )?name(?:'s| is)\b|\b(?:everyone|people|friends) calls? me\b|^(?:please )?call me \w+\W*$",
        "My name is Ilse.",
        cues="name name's call calls",
    ),
    Phrase(
        r"\bi(?:'m| am)? (?:live|living|lived|based|was born|born|grew up|come|came) (?:in|at|near|on|from|since)\b(?! (?:fear|hope|peace|the moment))",
        "I am living in Porto since five years.",
        "I live in fear of spiders.",
        cues="live living lived based born grew come came",
    ),
    Phrase(
        r"(?:\b(?:i|we)(?:'ve| have)?(?: \w+)? |^)moved (?:to|here from|from|out of|into)\b(?! (?:a new|the next))|\bmoving to (?!a\b|the\b)\w+",
        "Moved to Leeds in March.",
        "I moved to the next task.",
        cues="moved moving",
    ),
    Phrase(
        r"\b(?:my|our) (?:home ?town|home country|nationality|native language|mother tongue|(?:home |street |postal )?address)\b",
        "My home country is Sweden.",
        cues="home hometown nationality language tongue address",
    ),
    Phrase(
        r"\bi(?:'m| am) (?:originally )?from (?!the\b|work\b|here\b)\w", "I'm originally from Dunedin.", cues="from"
    ),
    Phrase(
        r"\bi work (?:as|at|for|nights|shifts|part)\b|\bi(?:'m| am) (?:self-employed|unemployed|retired|a freelance\w*)\b|\bi(?:'ve| have)? worked (?:as|at|for)\b",
        "I work nights at the bakery.",
        cues="work worked self-employed unemployed retired freelance freelancer",
    ),
    Phrase(
        r"\b(?:lost|quit|left) my job\b|\bmy own (?:\w+ )?(?:business|studio|shop|store|company|firm|practice|cafe|restaurant|bakery)\b",
        "I lost my job as a banker.",
        cues="job own",
    ),
    Phrase(
        r"\bmy (?:job|profession|employer|occupation) (?:is|as)\b|\b(?:my|our) (?:company|firm) (?:is|has|have|name)\b",
        "My job is teaching music.",
        cues="job profession employer occupation company firm",
    ),
    Phrase(
        rf"\bi(?:'m| am)(?: \w+)? (?:an?|the) (?:\w+ ){{0,2}}(?:{'|'.join(_JOBS.split())})\b",
        "I'm a retired music teacher.",
        cues=_JOBS,
    ),
    Phrase(
        rf"\b(?:my|our) (?:\w+ )?{_KIN}(?:'s name|'s| \w+)? (?:is|are|has|have|works?|lives?|was born|suffers?|named|called|passed away|died)\b"
        r"(?! (?:coming|here|sick|asleep|at|in a|so|very|calling|waiting|just|fine|ok|been|going|had|my|amazing|great|awesome))",
        "My wife Helene passed away two years ago.",
        "My daughter is asleep.",
        cues=_KIN_CUES,
    ),
    Phrase(
        rf"\b(?:i|we)(?:'ve| have)? (?:got |have )?(?:an? |\d+ |one |two |three |four |five )(?:\w+ ){{0,2}}?(?:{_KIN}|{_PET})\b",
        "We have three cats.",
        cues=f"{_KIN_CUES} {_PET_CUES}",
    ),
    Phrase(
        rf"\b(?:{_KIN}|{_PET}|pet)(?: is|'s)? (?:named|called)\b|\badopted an? (?:\w+ )?{_PET}\b|\b(?:my|our) (?:\w+ )?{_PET}(?:,| (?:is|has)\b)",
        "We adopted a greyhound called Pim.",
        cues=f"named called {_PET_CUES}",
    ),
    Phrase(
        rf"\b(?:is|was|are) (?:\w+, )?my (?:\w+ )?(?:{_PET}|{_KIN})\b",
        "That one is Max, my childhood dog.",
        cues=f"{_KIN_CUES} {_PET_CUES}",
    ),
    Phrase(
        r"\ballerg(?:ic|y|ies)\b|\b(?:can't|cannot|don't|doesn't|not) eats? (?!it\b|that\b|this\b|now\b)\w+|\b(?:gluten|lactose)[ -](?:free|intolerant)\b",
        "I can't eat gluten.",
        "I can't eat it.",
        cues="allergic allergy allergies eat eats gluten gluten-free lactose lactose-intolerant gluten-intolerant",
    ),
    Phrase(
        rf"\b(?:\w+(?:'m|'re|'s)|im|am|are|is|been) (?:\w+ )?{_BEING}\b",
        "Nils is vegan.",
        cues=_BEING_CUES,
    ),
    Phrase(
        rf"\bas an? (?:{_BEING}(?: {_ONE})?|single {_ONE}|\w+ (?:woman|man|parent))\b",
        "It'll be tough as a single parent.",
        cues=f"woman man parent {_BEING_CUES}",
    ),
    Phrase(
        rf"\b(?:has|have|suffers? from) (?:\w+ )?{_HEALTH}\b|\bdiagnosed with\b|\buses? an? (?:\w+ )?(?:wheelchair|hearing aid|screen reader)\b",
        "My mother uses a wheelchair.",
        cues="diabetes asthma adhd epilepsy migraine migraines arthritis disease dementia pressure diagnosed wheelchair hearing screen",
    ),
    Phrase(
        r"\b(?:birthday|anniversary)(?: is|'s| falls|:)|\bborn on\b|\bi(?:'m| am|m) \d{1,2}\b(?! ?(?:min|hour|week|day|%|km|percent|a?m\b|pm\b))",
        "Ilse's birthday: 9 May.",
        "I'm 10 minutes away.",
        cues="birthday anniversary birthday's born i'm im am",
    ),
    Phrase(
        r"我(?:的名字|叫|住在|来自|对.{1,12}过敏)|私の名前|제 이름",
        "我的名字是王峰。",
    ),
)
"""Who the person is: name, home, work, family, health and diet, days of birth, pets."""

TASTE: Final[tuple[Phrase, ...]] = (
    Phrase(
        r"^(?:[\w' ]{0,30}, ?)?(?:and |but |btw |also )?(?:i|we)(?:'d| would)? (?:also |really |rly |always |usually |generally |just |much )*(?:like|love|luv|enjoy|prefer|hate|dislike|adore|detest|can't stand|rather)\b"
        r"(?! (?:it|that|this|these|those|them|you|your|how|when|what|the way|having you|all (?:the|of)|to see|to hear|talking|chatting)\b)",
        "Besides nature, I also love listening to jazz.",
        "I love all the yellow leaves.",
    ),
    Phrase(r"\b(?:my|our) (?:all[- ]time )?(?:favou?rite|top pick)|\bfavou?rite \w+ is\b", "My favourite dish is risotto."),
    Phrase(r"^(?:i|we) (?:want|wish|need) (?:you|the answers?|explanations|answers|replies)\b|\bi'd like (?:you|the|an?|all|every)\b|\bi would (?:be grateful|appreciate)\b|^if .*\bi'd\b|\bplease\b|\bpls\b|^always\b|, always\W*$|\bi'd always\b", "I want explanations before code, not after."),
    Phrase(r"^(?:\w+ )?(?:hate|prefer|lieber|smaller|shorter|longer|no|less|more|only)\b", "Hate voice notes."),
    Phrase(r"\b(?:lieber|am liebsten|mag|liebe|bevorzuge|prefiero|preferimos|me gusta|me encanta|j'aime|préfère|adore|preferisco|mi piace|liefst|hou van|prefiro|gosto|adoro)\b|喜欢|喜愛|好き|좋아", "Preferimos viajar de noche."),
)  # fmt: skip
"""What the person likes and how they want things done, in words that need no other."""

ORDER: Final[tuple[Phrase, ...]] = (
    Phrase(
        r"(?<!i )(?<!we )(?<!i've )(?<!have )(?<!i'm )\b(?:always|never)\b|\b(?:(?<!what)ever|every|only|nobody|forbidden|from now on|whenever|when you|must(?! (?:be|have) (?:a |the |\w+ing)\b)|mustn't|at most|max|maximum)\b",
        "Every public endpoint must be rate limited.",
    ),
    Phrase(
        r"(?<!why )(?<!but )\b(?:don't|dont|do not|cannot|can't|cant|can not|not allowed|avoid)\b(?! (?:really|think|know|see|find|prevent|fail)\b)",
        "Please don't touch anything under vendor/.",
        "We can't really prevent that.",
    ),
    Phrase(r"^(?:\w+: |please |pls |so )?no \w+", "No calls before 10."),
    Phrase(r"^\w+(?: \w+)?, not \w+(?: \w+)?\W*$", "Tabs, not spaces."),
    Phrase(r"\b(?:has|have) to be\b", "The renovation has to be finished before March."),
    Phrase(
        r"^(?:please |pls |kindly |and )?(?:keep (?!in mind\b)|write|answer|reply|speak|address|call me)\b",
        "Please keep your answers short.",
    ),
    Phrase(
        r"\b(?:niemals|nie|immer|nur|kein\w*|nunca|siempre|jamais|toujours|désormais|mai|sempre|nooit|altijd|alleen)\b",
        "Nie direkt auf main pushen.",
    ),
)
"""Limits that hold beyond the work at hand: of "make sure that these tests pass" nothing is left when it is done."""

SMALL_TALK: Final[tuple[Phrase, ...]] = (
    Phrase(
        r"\bi (?:\d+% |totally |completely |fully |really |so |do )*agree\b(?:,? (?:with )?(?:you|\w+)\W*$)?",
        "I totally agree, Melanie.",
        cues="agree",
    ),
    Phrase(r"\bkeep (?:ya|you|u) (?:posted|updated|in the loop)\b", "I'll keep ya posted.", cues="posted updated loop"),
    Phrase(
        r"\b(?:talk|speak|chat|catch up) (?:to|with) (?:you|ya|u)\b(?: again)?(?: \w+)?\W*$|\b(?:see|talk to) (?:you|ya) (?:soon|later|tomorrow)\b",
        "I will talk to you again tomorrow.",
        cues="talk speak chat catch see",
    ),
    Phrase(
        r"\b(?:so much|lots|a lot|much|loads)(?:'s| has| have)? (?:been going on|happened|changed)\b",
        "A lot's happened.",
        cues="going happened changed",
    ),
    Phrase(
        r"\b(?:it's |has )?been an? (?:\w+ )?(?:week|day|month|while|time|year|ride|journey)\b",
        "Been a busy week.",
        cues="been",
    ),
    Phrase(
        r"\bsince (?:we (?:last )?(?:talked|spoke|chatted|met)|our last (?:chat|talk))\b",
        "A lot happened since we last talked.",
        cues="since",
    ),
    Phrase(
        r"\b(?:that's|that is) (?:it|all) for (?:today|now)\b|\bi'm off (?:to|now)\b|\bhave (?:dinner|lunch|breakfast) now\b",
        "No, that's it for today.",
        cues="for off now",
    ),
    Phrase(
        r"\b(?:do|did|doing) (?:my|our) best\b|\bgive it (?:a (?:try|shot|go)|my all)\b|\bmake (?:it|this|things) (?:work|happen|count)\b|\bgo for it\b",
        "I'll give it a try.",
        cues="best give make go",
    ),
    Phrase(
        r"\b(?:my|our|your|their) (?:\w+ )?dreams? (?:come true|alive)\b|\b(?:follow|chase|live|livin'|living) (?:my|our|your|their) dreams?\b",
        "I'm gonna make my dreams come true!",
        cues="dream dreams",
    ),
    Phrase(
        r"\b(?:it'll|it will|will) (?:all )?pay off\b|\bup for the challenge\b|\bmake an? (?:\w+ )?(?:impact|difference)\b|\bmake (?:\w+ )?memories\b",
        "I'm up for the challenge.",
        cues="pay challenge impact difference memories",
    ),
    Phrase(
        r"\b(?:stay|be|remain|keep) (?:positive|strong|focused|resilient|motivated|determined|true|going|pushing|growing|shining)\b(?: and \w+)?",
        "Gotta stay resilient and focused.",
        cues="stay be remain keep",
    ),
    Phrase(
        r"\b(?:keep|bear|have) (?:these|this|that|those|it|your \w+) in mind\b",
        "I will keep your words in mind.",
        cues="mind",
    ),
    Phrase(
        r"\b(?:thanks?|thank you|thankful|grateful|glad|happy|sorry|congrats|congratulations)\b(?! to\b)[^,.;!-]*",
        "Thanks for always being there!",
        cues="thanks thank thankful grateful glad happy sorry congrats congratulations",
    ),
    Phrase(
        r"\b(?:don't|do not) know what to do\b|\bfeel(?:ing)? (?:so |very |a bit |really )?(?:helpless|confused|lost|good|great|bad|sad|refreshed|better|down|stressed|tired)\b(?: and \w+)?",
        "I don't know what to do and feel helpless.",
        cues="know feel feeling",
    ),
    Phrase(
        r"\blet me know\b|\blemme know\b|\btell me (?:more|about)\b",
        "Lemme know when you got time.",
        cues="lemme let tell",
    ),
    Phrase(
        r"\bin (?:my|your|our) corner\b|\bgot (?:my|your) back\b|\b(?:so|pretty|super|really) (?:cool|fun|great|awesome|amazing|exciting)\b",
        "Love having you in my corner.",
        cues="corner back cool fun great awesome amazing exciting",
    ),
)
"""What keeps a talk going and tells nothing: it is cut out before a sentence's matter is counted."""

NO_ITEM: Final[tuple[Phrase, ...]] = (
    Phrase(r"^since (?:i|we|my|then|the)\b[^,]*$", "Since I was 17 or so.", cues="since"),
    Phrase(
        r"^(?:kids|children|people|families|friends|dogs|cats|dreams) (?:are|need|can|deserve|love)\b",
        "Kids are resilient in tough situations.",
        cues="are need can deserve love",
    ),
    Phrase(
        r"\b(?:i'll|i will) (?:always|never) (?:remember|forget|cherish|treasure)\b",
        "I'll always remember our camping trip.",
        cues="always never",
    ),
    Phrase(
        r"\btake care of yourself\b|\bbelieve in yourself\b|\bbe kind to yourself\b|\bproud of you(?:rself)?\b",
        "Make sure you take care of yourself.",
        cues="yourself proud",
    ),
    Phrase(
        r"\b(?:forget|remember|sure) to (?:prepare emotionally|stay \w+|have fun|enjoy|smile|breathe|rest|relax|be kind|take (?:it easy|care|breaks?))\b",
        "Don't forget to stay positive.",
        cues="forget remember sure",
    ),
    Phrase(
        r"\b(?:make|be) sure (?:yours|your \w+) stands? out\b|\blet them know you\b|\bwith your (?:customers|clients|kids)\b",
        "Make sure yours stands out.",
        cues="sure them your",
    ),
    Phrase(
        r"\byou (?:can't|cannot|can not) (?:taste|feel|see|hear|smell|touch|understand)\b",
        "You can't taste food.",
        cues="can't cannot not",
    ),
    Phrase(
        r"\b(?:should|must) be (?:everyone|everybody)'s\b|\beveryone (?:deserves|should|needs)\b|\bwe all (?:have|need|are|want|deserve)\b",
        "Love should be everyone's right.",
        cues="everyone everyone's everybody's all",
    ),
    Phrase(
        r"^(?:(?:oh|well|so|and|hey|yes|yeah),? )*(?:here's|here is|here are|look at|check (?:it|this|that|these) out)\b",
        "Here's a pic from last week!",
        cues="here's here look check",
    ),
    Phrase(
        r"^(?:(?:and|it|that|this),? )?(?:reminds|sounds|looks|feels|seems|makes|made) (?:me|like|so|really|great|good|amazing|awesome)\b",
        "Reminds me how much I love performing.",
        cues="reminds sounds looks feels seems makes made",
    ),
    Phrase(
        r"^(?:i(?:'m)? )?(?:also |really |just |so )*(?:love|loved|like|loving) (?:all )?(?:the|your|how|that|this|these|those|having you|it)\b(?! (?:idea of|more)\b)(?!.*\b(?:more|better|rather)\b)",
        "Love the colors and the sunset vibe.",
        "I love the idea of short answers.",
        cues="love loved like loving",
    ),
    Phrase(
        r"^(?:good|great|nice|amazing|awesome|excellent|lovely|beautiful|impressive|fantastic) (?:work|job|one|stuff|point|idea|question|going|pics?|photos?|shots?)\b",
        "Good work, Sam!",
        cues="good great nice amazing awesome excellent lovely beautiful impressive fantastic",
    ),
    Phrase(
        r"\bhow (?:are|were|is|was) (?:you|your)\b|\bwhat about you\b|\bhave a (?:good|great|nice|lovely) (?:day|one|time|night|evening|weekend)\b",
        "Have a great day.",
        cues="how what have",
    ),
    Phrase(
        r"^(?:das|dies|es) (?:ist|war|klingt) (?:so |sehr )?(?:schön|toll|gut|super)|^(?:c'est|ça) (?:\w+ )?(?:bien|super|beau|génial)|^(?:eso|esto|qué) (?:es |está )?(?:bonito|genial|bueno|bien)",
        "Das ist toll!",
        cues="das dies es c'est ça eso esto qué",
    ),
    Phrase(r"^(?:这些?|那些?|它们?)(?:也|都|是|很|真)", "这些也都是我很喜欢的活动。"),
)
"""Praise, advice to the one who listens, comments on what is shown: no items, whatever else they hold."""

NO_MATTER: Final = (
    "able actually agree aim amazing awesome bad bit check chance change cool day days definitely difference dream"
    " dreams easy enjoy excited exciting everyone everything everybody feel feeling feelings find focus focused forward fun get getting give"
    " glad go goal goals going gonna good got gotta great guess guys half happen happened happy hard help helping hey hope hopefully idea ideas"
    " idk impact important inspire inspires inspired interesting it'll join journey joy just keep kind know lately later let"
    " lets life like likes look looking lot lots love loved make makes making maybe mean meaningful meet mind moment"
    " much name need nice oh ok okay one ones part passion passionate people person place positive possible"
    " probably put ready real really right said say see send share shure small someone something"
    " sometimes soon special start started still stuff success super support sure take talk tell thing things think thought thoughts"
    " thrilled time times together tough tricky true try trying understand use used video vid pic photo"
    " wait want wanted way week weeks well went will wish wonderful work works world worth wow ya yeah yep yes yesterday"
    " today tomorrow tonight year years month months last next ago related methods challenge challenges motivated key confused helpless"
    " fulfillment fulfilment acceptance somebody anyone anything nothing picture research off gotten done doing come coming back big"
)
"""Words that tell no matter, beside those of grammar: talk has them about everything."""
