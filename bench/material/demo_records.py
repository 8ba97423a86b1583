"""The papers of the demo's story: the glaze notebook, quotes, bank statements, mail, pages of the shop, order lists."""

from random import Random
from typing import Final

_OXIDES: Final = (
    "cobalt carbonate",
    "red iron oxide",
    "rutile",
    "tin oxide",
    "manganese dioxide",
    "nickel oxide",
    "bone ash",
)
_GLAZES: Final = (
    "Ash Grey",
    "Tide",
    "Rye",
    "Fog",
    "Rowan",
    "Herring",
    "Moss",
    "Slate",
    "Honey",
    "Ink",
    "Birch",
    "Plum",
)
_REMARKS: Final = (
    "ran over the foot ring, thinner next time",
    "lovely where it breaks over the throwing lines",
    "pinholes on the shoulder, bisque was too quick",
    "too shiny, Jonna calls it the bathroom",
    "good on the dark clay, dull on the white",
    "crawled near the handle, wipe the dust off first",
    "almost, almost, but the blue goes purple",
    "kept two test tiles on the window sill",
    "food safe, vinegar test passed overnight",
    "never again, it ate the kiln shelf",
    "best when poured, not dipped",
    "crackle came a day later with a ping",
)
_CUSTOMERS: Final = (
    "Tove Lind", "Marek Brandt", "Ada Okafor", "Silje Moen", "Jens Harder", "Priya Nair", "Lucia Ferro", "Otto Falk",
    "Nora Winther", "Sami Rask", "Greta Holm", "Ben Ashby", "Yuki Mori", "Elif Kaya", "Hanne Dahl", "Paul Reuter",
)  # fmt: skip
# Where in its document each thing of interest stands.
_GREEN_BATCH: Final = 61
_PRODUCT_SHELF: Final = 5
# Of five bookings of the account, so many are spendings.
_SPENDINGS_OF_FIVE: Final = 3
_PAGES: Final = ("hero", "basket", "product-card", "footer", "story", "shipping-note", "gallery", "newsletter")


def make_notebook(rng: Random) -> str:
    """Give the glaze notebook, some 8,000 tokens, with batch 61 in its middle."""
    lines = ["GLAZE NOTEBOOK, typed from the blue book, all batches", ""]
    for number in range(1, 187):
        if number == _GREEN_BATCH:
            lines.append(
                "Batch 61 is THE green: copper carbonate 3.5 %, rutile 4 %, cone 6, hold 12 minutes at the top. Never change it."
            )
            continue
        first, second = rng.sample(_OXIDES, 2)
        lines.append(
            f"Batch {number} {rng.choice(_GLAZES)}: base {rng.choice('ABCD')}{rng.randrange(1, 9)}, {first} "
            f"{rng.randrange(2, 60) / 10} %, {second} {rng.randrange(2, 80) / 10} %, cone {rng.choice((5, 6, 6, 7, 9))}, hold "
            f"{rng.randrange(5, 40)} minutes. {rng.choice(_REMARKS).capitalize()}; {rng.choice(_REMARKS)}."
        )
    return "\n".join(lines)


def make_quote_table(rng: Random) -> str:
    """Give offers for shipping boxes as a search tool lists them."""
    lines = ["supplier | quote | price per box eur | inner sleeve | delivery"]
    for name in (
        "Nordic Carton",
        "Boxwerk",
        "Pakhuset",
        "Fold & Ship",
        "Kraft Depot",
        "Paper Mill East",
        "Rondo Boxes",
    ):
        days = rng.randrange(3, 21)
        lines.append(
            f"{name} | Q-{rng.randrange(10_000, 88_000)} | {rng.randrange(195, 340) / 100:.2f} | no | {days} days"
        )
    lines.insert(4, "Harbour Packaging | Q-88213 | 1.85 | yes, paper | 6 days, quote valid until 30 April")
    return "\n".join(lines)


def make_statement(rng: Random) -> str:
    """Give a month of the workshop's bank account."""
    balance = rng.randrange(900, 1_600) * 100
    lines = ["date | text | amount eur | balance eur"]
    for day in range(1, 29, 1):
        amount = -rng.randrange(350, 9_000) if rng.randrange(5) < _SPENDINGS_OF_FIVE else rng.randrange(1_200, 14_000)
        balance += amount
        text = rng.choice(
            ("Clay depot", "Market stall", "Electricity", "Workshop rent", "Card reader", "Course fee", "Glaze & Co")
        )
        lines.append(
            f"{day:02d} | {text} ref {rng.randrange(100_000, 999_999)} | {amount / 100:.2f} | {balance / 100:.2f}"
        )
    return "\n".join(lines)


def make_thread(rng: Random) -> str:
    """Give the reporter's mail as a mail tool returns it."""
    return (
        "From: Petra Sund, Harbour Weekly\nTo: Ilse\nSubject: the boathouse\n\nDear Ilse,\n\nmy neighbour drinks from one "
        "of your mugs and will not lend it to me, so I have to come and see for myself. Could I have half an hour in your "
        "workshop, on any weekday before the twelfth? I would love a photo of you at the wheel. And what was the boathouse "
        "before it was yours? Everybody on the pier tells me something else.\n\nMy deadline is Friday the ninth. My direct "
        "line is 0555 014 882, the office is always busy.\n\nWarmly,\nPetra\n\n"
        f"-- \nHarbour Weekly, Quay {rng.randrange(2, 40)}, since 1921. This message went through list item {rng.randrange(1000, 9999)}."
    )


def make_page(rng: Random, name: str, mistake: str) -> str:
    """Give one page of the shop with numbered lines, the mistake in its middle."""
    rows_count = rng.randrange(60, 90)
    lines = [f'<section class="{name}">']
    for index in range(rows_count):
        block = rng.choice(_PAGES)
        if index == rows_count // 2:
            lines.append(f"  {mistake}")
        lines.append(
            f'  <div class="{block}__{rng.choice(("title", "row", "note", "image"))}" data-id="{rng.randrange(1000, 9999)}"></div>'
        )
    lines.append("</section>")
    return "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines, 1))


def make_orders(rng: Random, *, first: int, count: int) -> str:
    """Give `count` orders from number FC-`first` on, as the shop lists them."""
    lines = ["order | customer | items | weight kg | total eur | paid"]
    for number in range(first, first + count):
        item = rng.choice(
            ("mug, fog", "mug, the green", "wide bowl, tide", "serving plate, rye", "tall vase, ink", "egg cup, plum")
        )
        pieces, paid = rng.randrange(1, 7), rng.choice(("card", "card", "transfer", "open"))
        lines.append(
            f"FC-{number} | {rng.choice(_CUSTOMERS)} | {pieces} x {item} | {pieces * rng.randrange(40, 170) / 100:.2f} | "
            f"{pieces * rng.randrange(1800, 5200) / 100:.2f} | {paid}"
        )
    return "\n".join(lines)


def make_stock(rng: Random, product: str) -> str:
    """Give the shelf list around one product."""
    lines = ["shelf | piece | glaze | count | seconds | fired"]
    for shelf in range(1, rng.randrange(40, 64)):
        piece = (
            product
            if shelf == _PRODUCT_SHELF
            else rng.choice(("mug", "saucer", "egg cup", "jug", "wide bowl", "test tile", "butter dish"))
        )
        lines.append(
            f"{rng.choice('ABC')}{shelf} | {piece} | {rng.choice(_GLAZES)} | {rng.randrange(1, 30)} | {rng.randrange(4)} | "
            f"firing {rng.randrange(11, 48)}, shelf {rng.choice(('top', 'middle', 'bottom'))}"
        )
    return "\n".join(lines)


def make_letter(rng: Random, name: str, question: str) -> str:
    """Give a customer's mail with its header and footer."""
    return (
        f"Message-ID: <{rng.getrandbits(40):010x}@mail.example>\nFrom: {name}\nSubject: {question[:40]}\n\n"
        f"Hello,\n\n{question}\n\n{rng.choice(_CLOSINGS)}\n{name}\n"
    )


_CLOSINGS: Final = (
    "I saw you at the market in the rain and still think of that bowl.",
    "No hurry, I know that clay takes its time.",
    "Please write in the evening, I am at sea during the day.",
    "My grandmother had a jug just like yours.",
    "Your pictures make me want to move to the coast.",
    "Thank you for making things that last.",
)
