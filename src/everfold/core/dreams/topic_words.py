"""The words by which topics are named, as data: areas of life with their words, and words that tell no matter.

A new word goes into the row of its area; `tests/unit/core/dreams/test_topic_words.py` tries the example of each area.

Source: DESIGN section 4, "Dreamer"; the lists of words are our own, drawn up for English.
"""

from typing import Final, NamedTuple

from everfold.core.statements.rules import DATE_WORDS, MAY_DATE_WORDS


class Area(NamedTuple):
    """One row: a part of people's lives, words that belong to it, and a statement that it is the area of."""

    name: str
    words: str
    example: str


AREAS: Final[tuple[Area, ...]] = (
    Area(
        name="people",
        words=(
            "mother mom mum father dad parent brother sister son daughter child children kid kids wife husband"
            " partner boyfriend girlfriend fiance fiancee friend family grandma grandpa grandmother grandfather"
            " grandson granddaughter aunt uncle cousin nephew niece neighbour neighbor roommate wedding married"
            " marriage divorce baby birthday twin"
        ),
        example="Our aunt visits on Sundays.",
    ),
    Area(
        name="work",
        words=(
            "job work office boss manager colleague coworker team client customer company business startup"
            " employer career salary project shift interview meeting deadline contract invoice report budget"
            " studio shop store internship promotion sale freelance report deploy release code repository server"
            " database test api bug branch"
        ),
        example="The deadline moved.",
    ),
    Area(
        name="studies",
        words=(
            "school college university class course exam degree student teacher professor thesis lecture homework"
            " lesson training certificate study diploma tutor"
        ),
        example="My thesis is late.",
    ),
    Area(
        name="home",
        words=(
            "home house flat apartment room kitchen garden yard rent mortgage landlord furniture sofa move street"
            " town city neighbourhood neighborhood village address dog cat puppy kitten pet bird rabbit hamster"
        ),
        example="The kitchen needs paint.",
    ),
    Area(
        name="health",
        words=(
            "doctor dentist hospital clinic allergy allergic medicine medication pill diet vegan vegetarian"
            " gluten sleep insomnia asthma diabetes injury knee back therapy therapist surgery illness sick pain"
            " pregnant gym workout fitness weight yoga anxiety stress blood"
        ),
        example="The dentist was kind.",
    ),
    Area(
        name="travel",
        words=(
            "trip travel flight hotel airport train ticket passport visa vacation holiday beach mountain camp"
            " camping hike hiking tour cruise ferry road luggage booking reservation country abroad museum"
        ),
        example="Our luggage got lost.",
    ),
    Area(
        name="food",
        words=(
            "food cook cooking recipe restaurant dinner lunch breakfast coffee tea meal dish bake baking cake"
            " bread cheese wine beer fruit vegetable meat fish rice pasta soup pizza chocolate"
        ),
        example="That recipe needs butter.",
    ),
    Area(
        name="hobbies",
        words=(
            "hobby music song band guitar piano violin concert sing dance dancing paint painting draw drawing art"
            " pottery photo photography book novel read reading write writing movie film series show game gaming"
            " sport football soccer basketball tennis swim swimming run running marathon race bike bicycle cycling"
            " climb climbing craft knit chess collect volunteer festival"
        ),
        example="My guitar needs strings.",
    ),
    Area(
        name="money",
        words=(
            "money bank loan debt tax insurance saving savings pension invest investment credit price cost"
            " payment account"
        ),
        example="Our pension is small.",
    ),
)
NO_SUBJECT: Final = (
    DATE_WORDS,
    MAY_DATE_WORDS,
    "like love hate prefer want wish need use try think know believe feel hope say tell ask remember forget please",
    "always usually often sometimes never now later soon already still instead actually really maybe probably ever",
    "good better best bad worse worst great nice new newer latest old older big small large little long short high low",
    "first last next second many much more most less least few lot thing things stuff way further other another every",
    "make take get give go come put set keep let start stop begin end change live decide decision agree plan gonna",
    "user person people someone everyone something anything everything nothing time year month week day hour minute",
    "moment morning afternoon evening night date today tomorrow yesterday weekend while bit kind sort part piece side",
    "one two three four five six seven eight nine ten no not yes ok okay fact task preference open item general note",
    "how what when where why who whom whose which whether gotta wanna lemme kinda sorta lol haha yeah yep wow hey hi",
    "definitely totally absolutely honestly certainly sure quite pretty almost enough yet even rather together around",
    "help find found look see watch hear talk call show stay pick check update happen seem become mean turn bring",
    "run leave meet read write buy sell pay wait send move follow learn seek grow win lose catch hold check finish",
    "able happy glad sad excited amazing awesome cool fun true right wrong real sorry thank thanks proud own main",
    "life world place idea chance reason point sense feeling experience example case matter problem question answer",
    "number name value kind type level list amount total correction important special different same favorite favourite",
)
"""Words that tell no matter, so that no topic is made of them."""
