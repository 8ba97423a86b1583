"""What a person has one of at a time, in whatever words it is told.

"I just joined Kite as a tester" takes the place of "I work at Acme".

A row tells an attribute of the speaker with the wording that gives its value, and an example. Two statements that give
one attribute two values are about the same thing, though they may share no word. The older one has to say nothing else,
and none of the two may be bound to a time or an occasion ("I work at Acme on Saturdays").

Source: own lists, tuned on the pairs that docs/adr/0031-what-replaces-what.md tells of.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.clauses.assertions import REMEMBERED_TEXTS, expand, list_tokens
from everfold.core.clauses.frames import LIGHT, list_plain
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem


class AttributeRule(NamedTuple):
    """A wording that gives the value of an attribute of the speaker, as the group `value` or by its mere presence.

    Attributes:
        attribute: Of what there is one at a time.
        pattern: Found in an expanded statement, whatever the case of what stands in "(?i:...)".
        example: A statement that it finds.
        value: What the example gives; the rule's own value where it has no such group.
        cues: Words of which one, in lower case, stands in whatever the pattern finds.
    """

    attribute: str
    pattern: str
    example: str
    value: str
    cues: str


class Told(NamedTuple):
    """The value that a statement gives an attribute.

    Attributes:
        value: The stems of it.
        is_alone: Whether the statement says nothing else.
    """

    value: frozenset[str]
    is_alone: bool


_DEPARTMENTS: Final = (
    "accounting|analytics|backend|billing|compliance|content|data|design|devops|engineering|finance|frontend|front-end|back-end|growth|hr|infra|infrastructure|legal"
    "|logistics|marketing|mobile|operations|ops|payments|platform|privacy|procurement|product|qa|quality|recruiting|research|sales|search|security|support|web"
)
"""What a team does at work: of the choir and the football team one may be in both."""
_I: Final = (
    r"(?i:\b(?:(?:i|we)|(?<!\bme )and(?= (?:now |just )?(?:work|live|drive|cycle)))(?: (?:am|are|have|had|will|just|now|currently|recently|finally|officially|actually|been|started|going|gone|to|be|begun|being|both|all|fully"
    r"|completely|then|decided|usually|mostly|mainly|typically|always|normally|generally))*) "
)
_NAME: Final = r"(?:the |a )?(?P<value>[A-Z0-9][\w&'.-]*(?: (?:[A-Z0-9&][\w&'.-]*|of|and|de|for))*)"
_WORDS: Final = r"(?:a |an |the |my |our |some )?(?P<value>[\w'/&-]+(?: (?!at\b|in\b|for\b|with\b|by\b|now\b|and\b|but\b|these\b|on\b|because\b|since\b|so\b|instead\b)[\w'/&-]+){0,3})"
_CLOSED: Final = r"(?=[.,;!]|:(?!\d)|$| (?:now|again|these|since|because|but|and|so|after|before|last|this|in|recently|yesterday|today|lately|instead|full[- ]time|for (?:the (?:past|last)|over|about|almost|\d+|two|three|four|five|six|ten|many|years|months|a (?:year|month|while|long)))\b| [-\u2013\u2014(])"
"""What may follow a value that is told whole: no noun that it only describes ("a keto bread")."""
_NUMBER: Final = r"(?:about |around |roughly |over |almost |nearly )*(?P<value>[$€£]? ?\d[\d.,:]*\d?(?:k\b)?(?: ?(?:am|pm|kg|kilos?|kilograms?|lbs?|pounds|euros?|dollars|[$€£]))?)"
_JOB: Final = (
    r"(?i:(?:a |an |my |the )?(?:new |different |better |great |full-time |permanent )*(?:job|position|role|gig))"
)
_STARTED: Final = (
    r"(?i:(?:start(?:ed|ing)?|begin|began|begun|got|get|getting|found|landed|took|taken|accepted|have|left for) )"
    rf"{_JOB} (?i:at|with|from) "
)
_MY: Final = r"\b(?i:my (?:new |current |main |own )*)"
_IS: Final = r"(?i: (?:is|became|has become|will be|has changed to|changed to|went up to|went down to|is set (?:to|for)|is (?:now|currently|just)))(?: now)? "
_NO_HOMES: Final = (
    "linux windows android ios macos ubuntu slack teams zoom discord notion obsidian signal telegram whatsapp gmail outlook vim neovim emacs"
    " python rust java kotlin typescript javascript react svelte vue angular django postgres postgresql mysql sqlite mongo mongodb redis kafka"
    " docker kubernetes aws azure gcp terraform github gitlab jira linear asana trello figma stripe spotify netflix"
    " sales marketing finance engineering operations support legal design product research hr it qa devops"
    " premium pro plus monday tuesday wednesday thursday friday saturday sunday"
)
"""What people also move to, and what begins with a capital: tools, departments, plans and days. The commonest ones."""
HOME: Final = (
    rf"(?!(?i:{'|'.join(_NO_HOMES.split())})\b|[\w-]*(?:[a-z][A-Z]|\d))"
    rf"{_NAME}(?![\w-]| (?:[A-Z\d]|(?:team|department|squad|office|branch|site|plan|tier)\b))"
)
"""A name that may be where a person lives."""
WHAT_SOMEBODY_IS: Final = (
    r"(?:VP|Head|Chief|CEO|CTO|CFO|Director|President|Legal|Finance|Sales|Marketing|HR|Swiss|German|French|Greek|Dutch|Welsh|Czech|Filipino|Tiroler|Breton|Andaluz"
    r"|Libra|Leo|Virgo|Gemini|Aries|Taurus|Cancer|Scorpio|Pisces|Capricorn|Aquarius|[A-Z]\w+(?:ian|ish|ese))"
)
"""Words with a capital that are no name of a person: a rank, where a person is from, a sign of the zodiac."""
_PERSON: Final = rf"(?!{WHAT_SOMEBODY_IS}\b(?! [A-Z])){_NAME}"
_FIRM: Final = r"(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|AG|Co|Labs|Technologies|Industries|Group)\b"
_VEHICLES: Final = "bike|bicycle|e-bike|car|bus|train|tram|metro|subway|underground|tube|ferry|boat|scooter|foot|motorbike|motorcycle|taxi|carpool"
_FIRM_NAME: Final = rf"(?!(?i:mon|tues|wednes|thurs|fri|satur|sun)day|(?i:home|night|building|floor|room|hall|level)\b){_NAME}(?<!Airport)(?<!Station)(?<!Street)(?![\w-]|'s\b|, who\b)"
_CAR: Final = r"(?P<value>(?:Audi|BMW|Dacia|Fiat|Ford|Honda|Hyundai|Kia|Mazda|Mercedes|Mini|Nissan|Opel|Peugeot|Porsche|Renault|Seat|Skoda|Subaru|Suzuki|Tesla|Toyota|Volkswagen|Volvo)(?: [A-Z0-9][\w-]*)*)"
_PHONE: Final = r"(?P<value>(?:iPhone|Pixel|Samsung(?! (?:TV|Tab|Watch|Book|Buds))|OnePlus|Fairphone|Nokia|Xiaomi|Motorola|BlackBerry)(?: (?:[A-Z0-9][\w-]*))*)"

RULES: Final[tuple[AttributeRule, ...]] = (
    AttributeRule(
        "employer",
        rf"{_I}(?i:(?:work|working) (?:at|for)|employed (?:at|by|with)) {_FIRM_NAME}",
        "I work at Kite.",
        "kite",
        "work working employed",
    ),
    AttributeRule(
        "employer",
        rf"{_STARTED}{_FIRM_NAME}",
        "I just got a new job at Kite.",
        "kite",
        "job position role gig",
    ),
    AttributeRule(
        "employer",
        rf"{_I}(?i:(?:start|started|starting) (?:at|work at|working (?:at|for))|hired (?:by|at)) {_FIRM_NAME}",
        "I just started at Kite.",
        "kite",
        "start started starting hired",
    ),
    AttributeRule(
        "employer",
        rf"{_I}(?i:joined|joining) {_FIRM_NAME}(?i: as (?:an? |the |their )(?!(?:member|volunteer|guest|fan)\b)[\w-]+)",
        "I joined Kite as a tester.",
        "kite",
        "joined joining",
    ),
    AttributeRule(
        "employer",
        rf"{_I}(?i:(?:switched|switching|changed|changing|moved|swapped) (?:jobs?|employers?|companies) (?:to|and (?:now )?work (?:at|for))) {_FIRM_NAME}",
        "I changed jobs to Kite.",
        "kite",
        "job jobs employer employers company companies",
    ),
    AttributeRule(
        "employer",
        rf"{_I}(?i:(?:switched|switching|moved|moving|went|transferred) to) (?P<value>(?:[A-Z][\w&-]* )+{_FIRM})",
        "I moved to Kite Labs.",
        "kite labs",
        "inc corp corporation ltd llc gmbh ag co labs technologies industries group",
    ),
    AttributeRule(
        "employer",
        rf"{_MY}(?i:employer|workplace){_IS}{_NAME}",
        "My new employer is Kite.",
        "kite",
        "employer workplace",
    ),
    AttributeRule(
        "employer",
        rf"{_I}(?i:unemployed|between jobs|out of work(?! at\b)|jobless)\b",
        "I am unemployed.",
        "",
        "unemployed jobless jobs work",
    ),
    AttributeRule(
        "occupation",
        rf"{_I}(?i:(?:work|working|employed) as) (?!(?i:an? )?(?i:volunteer|team|usual|normal|normally|well|hard|much|long|soon|fast|if|always|one|part|freelancer?|contractor|consultant|temp|civil servant|shift lead|lead|manager|supervisor)\b){_WORDS}",
        "I work as a nurse.",
        "nurse",
        "work working employed",
    ),
    AttributeRule(
        "occupation",
        rf"{_MY}(?i:job title|profession|occupation){_IS}(?!\w+ing\b){_WORDS}{_CLOSED}",
        "My profession is nurse.",
        "nurse",
        "title profession occupation",
    ),
    AttributeRule(
        "team",
        rf"\b(?i:i|we) (?i:(?:am|are|have|just|now|recently|work|working|moved|moving|switched|switching|transferred|joined|joining|on|in|to|into) )+(?i:the )(?P<value>(?i:{_DEPARTMENTS})) (?i:team|squad){_CLOSED}",
        "I am on the billing team.",
        "billing",
        "team squad",
    ),
    AttributeRule(
        "manager",
        rf"{_I}(?i:(?:report|reporting) to) {_PERSON}",
        "I report to Ada Moor.",
        "ada moor",
        "report reporting",
    ),
    AttributeRule(
        "manager",
        rf"{_MY}(?i:manager|boss|supervisor){_IS}{_PERSON}",
        "My boss is Ada Moor.",
        "ada moor",
        "manager boss supervisor",
    ),
    AttributeRule(
        "salary",
        rf"{_I}(?i:make|making|earn|earning|paid) {_NUMBER}(?=[.,;!]|$| (?:an?|per|each) year\b| (?:now|before|after)\b)",
        "I am now making $95,000.",
        "$ 95,000",
        "make making earn earning paid",
    ),
    AttributeRule(
        "salary",
        rf"{_MY}(?i:salary){_IS}{_NUMBER}(?=[.,;!]|$| (?:an?|per|each) year\b| (?:now|before|after)\b)",
        "My salary is $75,000.",
        "$ 75,000",
        "salary",
    ),
    AttributeRule(
        "share of the rent",
        rf"{_I}(?i:pay|paying) {_NUMBER}(?i: (?:in |for |of )?(?:the )?rent){_CLOSED}",
        "I pay 900 euros rent.",
        "900 euros",
        "rent",
    ),
    AttributeRule(
        "rent",
        rf"(?i:\b(?:my|our) (?:monthly )?rent){_IS}{_NUMBER}{_CLOSED}",
        "My rent is 900 euros.",
        "900 euros",
        "rent",
    ),
    AttributeRule(
        "home",
        rf"{_I}(?i:(?:live|living|reside|residing|based|settled|relocated|relocating) (?:in|to)) {HOME}",
        "We relocated to Graz.",
        "graz",
        "live living reside residing based settled relocated relocating",
    ),
    AttributeRule(
        "home",
        rf"{_I}(?i:moved to) {HOME}",
        "I recently moved to Graz.",
        "graz",
        "moved",
    ),
    AttributeRule(
        "diet",
        rf"{_I}(?i:(?:(?:went|go|turn|turned|become|became|follow|following|eat|eating|on|transitioned|switched|adopted|committed) )*(?:a |an |to |strictly |strict |mostly |fully |completely |totally )*"
        rf"(?P<value>vegetarian|vegan|pescatarian|carnivore|omnivore|flexitarian|keto))(?: diet)?{_CLOSED}",
        "I have gone vegan.",
        "vegan",
        "vegetarian vegan pescatarian carnivore omnivore flexitarian keto",
    ),
    AttributeRule(
        "diet",
        rf"{_I}(?i:(?:(?:a|an) )?(?:(?:dedicated|big|total|happy) )?meat[- ]eater|(?:eat|eating) meat){_CLOSED}",
        "I eat meat again.",
        "",
        "meat",
    ),
    AttributeRule(
        "marriage",
        rf"{_I}(?i:(?:got |get |getting |newly |happily )*(?P<value>single|engaged|married|divorced|widowed|separated(?!,)))(?: to (?:my |[A-Z])\w+(?: [A-Z]\w+)*| from (?:my |[A-Z])\w+)?{_CLOSED}",
        "I got married.",
        "married",
        "single engaged married divorced widowed separated",
    ),
    AttributeRule(
        "age",
        rf"{_I}(?i:(?:turned|turning )?(?P<value>\d{{1,2}})(?: years?(?: old| of age)?)?)(?=[.,;!]|$| now\b| today\b)",
        "I am 41 years old.",
        "41",
        "am m turned turning",
    ),
    AttributeRule(
        "weight",
        rf"{_I}(?i:weigh|weighing|down to|up to) {_NUMBER}(?<=[a-z]){_CLOSED}",
        "I weigh 80 kg.",
        "80 kg",
        "weigh weighing kg kilos kilograms lbs pounds",
    ),
    AttributeRule(
        "way to work",
        rf"{_I}(?i:(?:commute|commuting|get to work|go to work|travel to work|getting to work)(?: to work)? by) (?P<value>{_VEHICLES}){_CLOSED}",
        "I commute by bike.",
        "bike",
        "commute commuting get getting go travel",
    ),
    AttributeRule(
        "way to work",
        rf"{_I}(?i:(?P<value>drive|driving|cycle|cycling|bike|biking|walk|walking) to (?:work|the office)){_CLOSED}",
        "I drive to work.",
        "drive",
        "drive driving cycle cycling bike biking walk walking",
    ),
    AttributeRule(
        "way to work",
        rf"{_I}(?i:(?:take|taking|ride|riding) (?:the |my |a )?(?:\d[\d:]* )?(?P<value>{_VEHICLES}) to (?:work|the office)){_CLOSED}",
        "I take the tram to work.",
        "tram",
        "take taking ride riding",
    ),
    AttributeRule(
        "rising",
        rf"{_I}(?i:(?:get|getting) up at) {_NUMBER}{_CLOSED}",
        "I get up at 6:30.",
        "6:30",
        "up",
    ),
    AttributeRule(
        "alarm",
        rf"{_MY}(?i:alarm) (?i:is set (?:for|to)|goes off at|rings at) {_NUMBER}{_CLOSED}",
        "My alarm goes off at 6:30.",
        "6:30",
        "alarm",
    ),
    AttributeRule(
        "bedtime",
        rf"{_I}(?i:(?:go|going) to bed at) {_NUMBER}{_CLOSED}",
        "I go to bed at 11 pm.",
        "11 pm",
        "bed",
    ),
    AttributeRule(
        "car",
        rf"{_I}(?i:drive|driving|bought|got|leased|picked up) (?i:a |an |the |my )(?i:new |used |second-hand )*{_CAR}{_CLOSED}(?!,)",
        "I drive a Skoda.",
        "skoda",
        "audi bmw dacia fiat ford honda hyundai kia mazda mercedes mini nissan opel peugeot porsche renault seat skoda subaru suzuki tesla toyota volkswagen volvo",
    ),
    AttributeRule(
        "car",
        rf"{_MY}(?i:car){_IS}(?:a |an |the )?{_CAR}",
        "My car is a Skoda Octavia.",
        "skoda octavia",
        "car",
    ),
    AttributeRule(
        "phone",
        rf"{_I}(?i:use|using|bought|got|switched to|upgraded to|moved to) (?i:a |an |the |my )?(?i:new )*{_PHONE}{_CLOSED}(?!,)",
        "I use an iPhone 12.",
        "iphone 12",
        "iphone pixel samsung oneplus fairphone nokia xiaomi motorola blackberry",
    ),
    AttributeRule(
        "phone",
        rf"{_MY}(?i:phone){_IS}(?:a |an |the )?{_PHONE}",
        "My phone is a Pixel 8.",
        "pixel 8",
        "phone",
    ),
    AttributeRule(
        "subject of study",
        rf"{_I}(?i:study(?! (?:for|at|in|with|from|on|hard|abroad|together|late|every|more|a lot|alone|all|until|to)\b)|majoring in|switched (?:my )?majors? to|changed (?:my )?majors? to) {_WORDS}(?=[.,;!]|$| now\b| at\b)",
        "I study biology.",
        "biology",
        "study majoring major majors",
    ),
    AttributeRule(
        "subject of study",
        rf"{_MY}(?i:major){_IS}(?!\w+ing\b){_WORDS}{_CLOSED}",
        "My major is biology.",
        "biology",
        "major",
    ),
)
BOUND: Final = (
    r"\b(?:during|at night|by (?:day|night)|at (?:the )?weekends?|on (?:the )?(?:week(?:day|end)s?|\w+days?)|part[- ]time|as a second|on the side|when|while|whenever|until|till"
    r"|sometimes|occasionally|in (?:the )?(?:winter|summer|spring|autumn|mornings?|evenings?)|for (?:a|the) (?:week|month|day|weekend|summer|winter|semester)|this (?:week|month)"
    r"|next (?:week|month|year|\w+day)|tomorrow|remotely from|used to|back then|would|if|from \w+day|before (?:that|then)|previously|formerly|at the time|long before|had been|years ago|(?:in|since) (?:19|20)\d\d"
    r"|, but not)\b"
)
_BESIDE: Final = LIGHT | frozenset(
    map(
        stem,
        "moved switch change job new recent recently currently last year month week day today old announce big news guess update reminder finally great love decide start now"
        " permanently full-time lately since time".split(),
    )
)
_SINCE: Final = re.compile(
    r"(?i)\b(?:for (?:the (?:past|last) |over |about |almost )*(?:\w+ )?(?:years?|months?|weeks?)|since (?:\w+ )?(?:19|20)\d\d)\b"
)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_attributes(text: str) -> Mapping[str, Told]:
    """The attributes of the speaker whose value a statement gives, by name."""
    words = frozenset(_WORD.findall(text.lower()))
    rules = [] if _SPEAKER.isdisjoint(words) else [rule for rule, cues in _CUED if not cues.isdisjoint(words)]
    expanded = expand(text).strip() if rules else ""
    if not rules or compile_pattern(BOUND).search(expanded.lower()):
        return _NONE
    return dict(_find_attributes(expanded, rules)) or _NONE


_NONE: Final[Mapping[str, Told]] = {}
"""Most statements tell no attribute: they share it."""
_WORD: Final = re.compile(r"[a-z]+")
_SPEAKER: Final = frozenset(("i", "we", "my", "our", "the"))
_CUED: Final = tuple((rule, list_word_set(rule.cues)) for rule in RULES)


def _find_attributes(expanded: str, rules: Sequence[AttributeRule]) -> Iterator[tuple[str, Told]]:
    for rule in rules:
        for found in compile_pattern(rule.pattern).finditer(expanded):
            value = found.groupdict().get("value")
            around = _SINCE.sub(" ", f"{expanded[: found.start()]} {expanded[found.end() :]}")
            words = list_plain(list_tokens(value.lower())) if value else frozenset((rule.example,))
            if words:
                yield rule.attribute, Told(words, not list_plain(list_tokens(around.lower())) - _BESIDE)


def gives_another_value(newer: str, older: str) -> bool:
    """Whether both give an attribute of the speaker a value, not the same, and the older one says nothing else."""
    said = read_attributes(older)
    told = read_attributes(newer) if said else _NONE
    if any(
        name in said and said[name].is_alone and said[name].value == denied.value
        for name, denied in _read_denied(newer, said)
    ):
        return True
    return any(
        said[name].is_alone and _are_rivals(said[name].value, told[name].value) for name in said.keys() & told.keys()
    )


def _are_rivals(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two values exclude each other: neither tells the other more closely or lies in it, nor in another unit."""
    if _may_hold(one, other) or bool(one & _HALVES) != bool(other & _HALVES):
        return False
    units = [frozenset(word for word in value if not word[:1].isdigit()) for value in (one, other)]
    is_measured = units[0] != one and units[1] != other
    return not (one <= other or other <= one) and not (is_measured and all(units) and units[0] != units[1])


_HALVES: Final = list_plain(("am", "pm"))
"""Of the day: 11 pm and 23:00 are one time."""


def _may_hold(one: frozenset[str], other: frozenset[str]) -> bool:
    return (one in _LANDS) != (other in _LANDS)


def may_lie_within(newer: str, older: str) -> bool:
    """Whether one statement names a town and the other a land, as where the speaker lives."""
    said = read_attributes(older).get("home")
    told = read_attributes(newer).get("home") if said else None
    return said is not None and told is not None and _may_hold(said.value, told.value)


def _read_denied(newer: str, said: Mapping[str, Told]) -> Iterator[tuple[str, Told]]:
    """The attributes of which a statement says that they have a value no longer."""
    denied = _NO_LONGER.sub(" ", newer) if said else newer
    if denied != newer:
        yield from read_attributes(" ".join(denied.split())).items()


_LANDS: Final = frozenset(
    list_plain(list_tokens(name))
    for name in (
        "africa|america|asia|australia|europe|scandinavia|the balkans|bay area|midwest|afghanistan|albania|algeria|argentina|armenia|austria|bangladesh|belarus|belgium|bolivia|bosnia"
        "|brazil|bulgaria|cambodia|cameroon|canada|chile|china|colombia|costa rica|croatia|cuba|cyprus|czechia|denmark|ecuador|egypt|england|estonia|ethiopia|finland|france|germany|ghana"
        "|great britain|greece|guatemala|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|japan|jordan|kazakhstan|kenya|korea|latvia|lebanon|lithuania|malaysia|malta"
        "|mexico|morocco|myanmar|nepal|netherlands|new zealand|nicaragua|nigeria|northern ireland|norway|oman|pakistan|panama|paraguay|peru|philippines|poland|portugal|qatar|romania|russia"
        "|saudi arabia|scotland|senegal|serbia|slovakia|slovenia|south africa|south korea|spain|sri lanka|sweden|switzerland|syria|taiwan|tanzania|thailand|tunisia|turkey|uganda|uk|ukraine"
        "|united kingdom|united states|uruguay|us|usa|venezuela|vietnam|wales|zambia|zimbabwe"
        "|alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts"
        "|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island"
        "|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|west virginia|wisconsin|wyoming"
        "|bavaria|brittany|catalonia|normandy|ontario|provence|quebec|saxony|sicily|styria|tuscany|tyrol"
    ).split("|")
)
"""Countries and other wide regions: a town may lie in one, and no map is known. The commonest names in English."""
_NO_LONGER: Final = re.compile(
    r"(?i)\bno longer\b|\b(?:do not|don't|am not|is not) (?=.*\b(?:any ?more|any longer)\b)|\b(?:any ?more|any longer)\b"
)
