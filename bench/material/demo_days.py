"""The daily work of the demo's story: catalogue texts, letters, repairs of the web pages, parcels, packing lists."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Final

from bench.material.demo_records import make_letter, make_orders, make_page, make_stock
from bench.material.demo_script import Script

# Name, glaze, price in euros, and what Ilse says about it.
_PRODUCTS: Final = (
    ("breakfast mug", "Fog", 24, "the handle fits three fingers, I measured everybody in the family"),
    ("tall mug", "the green", 26, "people with cold hands love it, it is thicker at the bottom"),
    ("espresso cup", "Ink", 16, "tiny, but it does not tip over on a boat"),
    ("wide bowl", "Tide", 48, "the glaze pools in the middle like a pond"),
    ("soup bowl", "Rye", 32, "it has one small ear, so you can drink the rest"),
    ("serving plate", "Honey", 56, "a little oval because my first one was a mistake and I liked it"),
    ("cake stand", "Birch", 64, "it comes in two parts that screw together, no glue"),
    ("butter dish", "Moss", 38, "the lid is heavy so that the cat cannot lift it"),
    ("tall vase", "Ink", 72, "for one branch, not for a bouquet"),
    ("salt pig", "Slate", 29, "the opening is turned so that the steam stays out"),
    ("milk jug", "Herring", 34, "it pours without a drip, I tested forty spouts"),
    ("egg cup", "Rowan", 14, "fits goose eggs when you turn it round"),
    ("tea bowl", "Ash Grey", 28, "no two are the same, the wood ash decides"),
    ("berry bowl", "the green", 36, "it has holes and a little plate for the drops"),
)
_LETTERS: Final = (
    ("Tove Lind", "Can the mugs go into the dishwasher? My husband will not wash by hand.", "yes, at 50 degrees, never the ones with gold"),
    ("Marek Brandt", "Could you make twelve soup bowls for our mess room with the ship's name on the bottom?", "yes, twelve take five weeks"),
    ("Ada Okafor", "Is the blue glaze free of lead? It is for a child.", "yes, there is no lead in the whole workshop"),
    ("Silje Moen", "May I come by and choose the vase myself on a Saturday?", "yes, Saturdays from ten to two"),
    ("Jens Harder", "Do you repair handles? My mug is thirty years old.", "no, but I can glue it as a pen holder"),
    ("Priya Nair", "Do you give courses for beginners? There are four of us.", "not before autumn, but there is a waiting list"),
    ("Lucia Ferro", "We run a small cafe and need forty espresso cups until June. What would that cost?", "forty for 520 euros, half of it in advance"),
    ("Otto Falk", "Is there a gift box? It is for a wedding.", "a ribbon is free, a wooden box is 9 euros"),
    ("Nora Winther", "The bowl has a tiny black dot inside. Is that a fault?", "iron from the clay, but do send it back if it bothers you"),
    ("Sami Rask", "Do you ship to an island without a bridge?", "yes, with the ferry, two days more"),
)  # fmt: skip
_REPAIRS: Final = (
    ("basket", "counts every mug twice when I press the button quickly", '<button onclick="add();add()">'),
    ("gallery", "shows the vases lying on their side on my phone", '<img style="transform:rotate(90deg)">'),
    ("footer", "still says Boathouse Bowls at the very bottom", "<p>Boathouse Bowls, since 2012</p>"),
    ("price list", "prints 24.000001 euros for the breakfast mug", "<b>{{ price * 1.25 / 1.25 }}</b>"),
    ("newsletter", "accepts an address without the at sign", '<input type="text" name="mail">'),
    ("search box", "finds nothing when I type Glaze with a capital letter", "<script>if (a === b) show()</script>"),
    ("story page", "is so slow that my aunt gave up", '<img src="wheel.tiff" width="6000">'),
    ("checkout", "asks for a second name that nobody has", '<input name="middle" required>'),
)
_COUNTRIES: Final = (
    ("Iceland", "11.40", "a customs form CN22"),
    ("Portugal", "9.90", "nothing special"),
    ("Switzerland", "14.20", "an invoice in three copies"),
    ("Japan", "23.50", "a customs form CN23"),
)
_SCENES_PER_CHAPTER_COUNT: Final = 4
_MORNINGS_COUNT: Final = 5
# Wednesdays belong to the kiln, as the user asked on the first day; Sundays to no team.
_DAYS_WITHOUT_PICKUP: Final = (3, 7)


class DailyWork:
    """Ordinary days in an order that the seed decides; each scene happens once."""

    def __init__(self, script: Script) -> None:
        self._script = script
        scenes: list[Callable[[], None]] = [partial(self._write_catalogue, *product) for product in _PRODUCTS]
        scenes += [partial(self._answer_letter, *letter) for letter in _LETTERS]
        scenes += [partial(self._repair_page, *repair) for repair in _REPAIRS]
        scenes += [partial(self._price_parcel, *country) for country in _COUNTRIES]
        script.rng.shuffle(scenes)
        self._scenes: Iterator[Callable[[], None]] = iter(scenes)
        self._times: Counter[str] = Counter()

    def do_until(self, day: date) -> None:
        """Do one scene a day until the day before `day`, at most four."""
        days_count = (day - self._script.day).days - 1
        for _, scene in zip(range(min(days_count, _SCENES_PER_CHAPTER_COUNT)), self._scenes, strict=False):
            self._script.next_day()
            scene()

    def finish(self) -> None:
        """Do what is left, then pack for the first mornings after the opening."""
        for scene in self._scenes:
            self._script.next_day()
            scene()
        for morning in range(_MORNINGS_COUNT):
            self._script.next_day()
            while self._script.day.isoweekday() in _DAYS_WITHOUT_PICKUP:
                self._script.next_day()
            self._pack(morning)

    def _write_catalogue(self, name: str, glaze: str, price_eur: int, remark: str) -> None:
        script = self._script
        script.user(
            self._vary(
                "catalogue",
                f"Today the {name} in {glaze}, please. {price_eur} euros. You should know: {remark}.",
                f"Next for the catalogue: the {name}, {glaze}, {price_eur} euros. Say somewhere: {remark}.",
                f"I took pictures of the {name} ({glaze}). It costs {price_eur} euros; {remark}.",
            )
        )
        script.tools(("shelf_list", {"piece": name}, make_stock(script.rng, name)))
        stock_count = script.rng.randrange(4, 29)
        script.reply(
            f'Here is a text: "{name.capitalize()} in {glaze}. Thrown in the old boathouse, glazed by hand; {remark}." There '
            f"are {stock_count} on the shelf that are not seconds. Shall I put it online at {price_eur} euros?"
        )
        script.user(
            self._vary(
                "catalogue ok",
                "Lovely, put it in.",
                "Yes please, but keep it hidden until the opening.",
                "That is me. Do it.",
            )
        )
        code = f"{name[:2].upper()}{script.rng.randrange(100, 999)}"
        script.tools(
            (
                "save_product",
                {"code": code, "price_eur": price_eur, "stock": stock_count},
                f'{{"saved": "{code}", "visible": false}}',
            ),
            (
                "resize_images",
                {"product": code},
                f"{script.rng.randrange(3, 7)} images, widths 480, 960 and 1600, alt text kept",
            ),
        )
        script.reply(f"Saved as {code}, with {stock_count} in stock.")

    def _answer_letter(self, name: str, question: str, answer: str) -> None:
        script = self._script
        script.user(
            self._vary(
                "letter", f"{name} wrote. What do they want?", f"There is a mail from {name}, can you read it to me?"
            )
        )
        script.tools(
            ("read_mail", {"from": name}, make_letter(script.rng, name, question)),
            ("find_customer", {"name": name}, make_orders(script.rng, first=script.rng.randrange(300, 800), count=26)),
        )
        script.reply(f'{name} asks: "{question}" What shall I answer?')
        script.user(self._vary("answer", f"Tell them: {answer}.", f"Hm. {answer.capitalize()}. Say it nicely."))
        script.reply(
            f'Draft: "Dear {name.split(maxsplit=1)[0]}, thank you for writing. The short answer: {answer}. Come and see us on the pier. '
            'Ilse". May I send it?'
        )
        script.user(self._vary("send", "Send.", "Yes, send it.", "Good, off with it."))
        script.tools(("send_mail", {"to": name}, f'{{"sent": true, "id": "M-{script.rng.randrange(20_000, 29_999)}"}}'))
        script.reply("Sent, and noted with the customer.")

    def _repair_page(self, page: str, trouble: str, mistake: str) -> None:
        script = self._script
        path = f"pages/{page.replace(' ', '_')}.html"
        script.user(self._vary("repair", f"The {page} {trouble}. Help?", f"Something is wrong: the {page} {trouble}."))
        script.tools(
            ("read_file", {"path": path}, make_page(script.rng, page.replace(" ", "-"), mistake)),
            (
                "run_checks",
                {"page": page},
                f"FAILED {path}: 1 problem\nSyntaxNote: suspicious line: {mistake}\n11 passed, 1 failed",
            ),
            text=f"Let me look at {path}.",
        )
        script.tools(
            (
                "edit_file",
                {"path": path, "remove": mistake},
                f"--- a/{path}\n+++ b/{path}\n-  {mistake}\n+  (corrected)\nsaved",
            )
        )
        script.tools(("run_checks", {"page": page}, "12 passed, 0 failed"))
        script.reply(f"Fixed in {path}. The culprit was the line `{mistake}`; the checks of the {page} pass again.")

    def _price_parcel(self, country: str, price_eur: str, paper: str) -> None:
        script = self._script
        script.user(
            self._vary(
                "parcel",
                f"Somebody asks about {country}. Can we?",
                f"What would a parcel to {country} cost, two kilos?",
            )
        )
        table = "\n".join(
            f"{kilos} kg | {float(price_eur) * (0.8 + kilos / 10):.2f} | tracked" for kilos in range(1, 11)
        )
        script.tools(("shipping_table", {"to": country}, f"{table}\nneeds: {paper}\nzone {script.rng.randrange(2, 9)}"))
        script.reply(f"We can. Two kilos to {country} cost {price_eur} euros with tracking, and it needs {paper}.")
        script.user(
            self._vary("parcel ok", "Then add it.", "Good, open the door to them.", "Only with tracking, then yes.")
        )
        script.tools(
            ("add_zone", {"country": country, "price_eur": price_eur}, f'{{"zone": "{country}", "active": true}}')
        )
        script.reply(f"{country} is in the shop now, at {price_eur} euros for up to two kilos.")

    def _pack(self, morning: int) -> None:
        script, orders_count = self._script, self._script.rng.randrange(14, 30)
        first = 1_060 + 32 * morning
        script.user(
            self._vary(
                "morning",
                "Good morning! The list?",
                "Kettle is on. What do we pack today?",
                "List please, my hands are warm.",
            )
        )
        script.tools(
            (
                "list_orders",
                {"status": "paid", "sort": "weight"},
                make_orders(script.rng, first=first, count=orders_count),
            ),
            (
                "weather",
                {"place": "pier"},
                self._vary("weather", "rain until noon", "dry, strong wind", "sun, 14 degrees"),
            ),
        )
        script.reply(
            f"{orders_count} orders, heaviest first. FC-{first} to FC-{first + orders_count - 1}; the open ones wait for their transfer."
        )
        script.user(
            self._vary(
                "packed",
                "All packed. One plate had a chip, I swapped it.",
                "Done, and not one thing broken!",
                "Packed. We are low on tape.",
            )
        )
        script.tools(
            (
                "book_pickup",
                {"parcels": orders_count},
                f'{{"pickup": "PU-{script.rng.randrange(5_000, 9_999)}", "window": "13 to 15"}}',
            )
        )
        script.reply("The pickup is booked between one and three.")

    def _vary(self, moment: str, *choices: str) -> str:
        """Take the choices for a moment in turn, so that two scenes of a kind do not begin alike."""
        self._times[moment] += 1
        return choices[self._times[moment] % len(choices)]
