"""The chapters of the demo's story: what happens once, and what is planted."""

from collections.abc import Callable
from datetime import date
from typing import Final

from bench.material.demo_records import make_notebook, make_quote_table, make_statement, make_thread
from bench.material.demo_script import Script


def _beginning(script: Script) -> None:
    script.user(
        "Hi! I am Ilse. I have a small pottery workshop in the old boathouse and I want to sell my things online by "
        "spring. I know clay, I do not know computers. Can you help me plan it so that I do not drown?"
    )
    script.reply(
        "Gladly, Ilse. Let us keep it small: a name, a catalogue of what you already make well, one way to pay, one "
        "way to ship, and a page that says who you are. We can do one of these each week. What do you sell most at "
        "the market?"
    )
    script.user(
        "Mugs, always mugs. Then the wide bowls. My budget for the whole adventure is 2,400 euros and not a cent more, "
        "my sister lent me half of it."
    )
    script.plant("budget", "standing", "My budget for the whole adventure is 2,400 euros")
    script.reply(
        "Then we plan for 2,000 and keep 400 for surprises. The shop software and the domain are the small part; "
        "boxes and shipping damage are what eats money with ceramics. I will keep a running total."
    )
    script.user("Remember: I fire the kiln on Wednesdays, so never put a call or a pickup on a Wednesday.")
    script.plant("kiln day", "standing", "never put a call or a pickup on a Wednesday")
    script.reply("Noted. Wednesdays belong to the kiln.")


def _name(script: Script) -> None:
    script.user(
        "I have three names on the wall: Boathouse Bowls, Salt Fennel, and Fennel & Clay. My neighbour likes none."
    )
    script.tools(
        ("check_domain", {"name": "boathousebowls.example"}, '{"free": false, "since": "2019-04-11"}'),
        ("check_domain", {"name": "saltfennel.example"}, '{"free": true, "price_eur": 34.00}'),
        ("check_domain", {"name": "fennelandclay.example"}, '{"free": true, "price_eur": 18.50}'),
        text="Let me see which of them are still free.",
    )
    script.reply(
        "The first is taken. Salt Fennel is free but sounds like a spice. Fennel & Clay is free, cheap, and says what "
        "one sees: the green of your glaze and the clay. How does it feel on a box?"
    )
    script.user(
        "We decided: the shop is called Fennel & Clay, and the address is fennelandclay.example. No more names!"
    )
    script.plant("shop name", "decision", "the shop is called Fennel & Clay")
    script.reply("Fennel & Clay it is. I have put 18.50 euros on the running total for the domain.")
    script.user("[[keep]] Our company number is 4471-0926-FC and it has to stand on every invoice.")
    script.plant("company number", "identifier", "4471-0926-FC")
    script.reply("It is in the invoice template now, in the footer, next to the address of the boathouse.")


def _launch_date(script: Script) -> None:
    script.user(
        "When do we open? The spring market is on 26 April and I will be dead afterwards. I say we launch on 3 May."
    )
    script.plant("launch date", "decision", "we launch on 3 May")
    script.tools(
        (
            "read_calendar",
            {"month": "2031-04"},
            "26 April: spring market, all day\n28 April: glaze delivery\n30 April: kiln",
        ),
        ("read_calendar", {"month": "2031-05"}, "3 May: free\n7 May: kiln\n10 May: Jonna's confirmation\n14 May: kiln"),
    )
    script.reply("3 May is free, a Saturday, and leaves you a week after the market. I have put it in the calendar.")
    script.user("Good. And please never write to a customer without showing me the draft first. I had bad luck once.")
    script.plant("drafts", "standing", "never write to a customer without showing me the draft first")
    script.reply("Always a draft first. Nothing leaves before you say so.")


def _boxes(script: Script) -> None:
    script.user(
        "I need boxes. Twenty mugs arrived at the market last year, seventeen of them in one piece. Who sells good ones?"
    )
    script.tools(
        (
            "request_quotes",
            {"item": "shipping box, double wall, 20x20x20 cm", "count": 300},
            make_quote_table(script.rng),
        ),
        (
            "search_notes",
            {"query": "breakage"},
            "2030 market: 3 of 20 mugs broken, single wall boxes, no inner sleeve.",
        ),
    )
    script.plant_tool("box quote", "Q-88213")
    script.reply(
        "Three offers are worth a look. Harbour Packaging is the cheapest per box at 1.85 euros, quote Q-88213, and it is "
        "the only one with an inner sleeve. The other two are closer but thinner."
    )
    script.user(
        "Harbour then. Remember: I am allergic to lanolin, so never suggest wool felt for the packaging, whatever it costs."
    )
    script.plant("allergy", "standing", "never suggest wool felt for the packaging")
    script.reply("Understood, no wool felt and nothing with lanolin. Shredded paper and the cardboard sleeve will do.")


def _payment(script: Script) -> None:
    script.user("My cousin says I must take cards, my aunt says only bank transfer. Who is right?")
    script.tools(
        (
            "compare_payments",
            {"turnover_eur": 1500},
            '{"card": {"fee": "1.4 % + 0.25"}, "transfer": {"fee": "0"}, "wallet": {"fee": "2.1 %"}}',
        ),
        ("read_bank", {"month": "2031-02"}, make_statement(script.rng)),
    )
    script.reply(
        "Both, a little. Cards cost you about 57 cents on a mug, and most people will not buy without them. Transfer "
        "can stand beside it for your aunt's friends, with the order number as the reference."
    )
    script.user("Fine: cards and bank transfer, and no wallet. From now on all prices I tell you include 25 % VAT.")
    script.plant("payment", "decision", "cards and bank transfer, and no wallet")
    script.plant("prices", "standing", "all prices I tell you include 25 % VAT")
    script.reply("Cards and transfer are on, the wallet is off, and I read every price as including VAT.")
    script.user("The shipping fee should be 4.90 euros flat, within the country.")
    script.plant("shipping fee", "decision", "shipping fee should be 4.90 euros flat")
    script.reply(
        "Set to 4.90 euros flat. A heavy bowl will cost you more than that; we should look again after a week."
    )


def _notebook(script: Script) -> None:
    script.user(
        "I typed up the whole glaze notebook over the weekend, my wrists hurt. Here it is, please keep it for when people "
        f"ask what is in the green one:\n\n{make_notebook(script.rng)}",
        label="paste",
    )
    script.plant(
        "green glaze", "in_paste", "Batch 61 is THE green: copper carbonate 3.5 %, rutile 4 %, cone 6, hold 12 minutes"
    )
    script.reply(
        "That is a treasure, thank you for the wrists. I have it: the batches with their oxides, cones and holds. For the "
        "shop we need one sentence per glaze; I suggest we never publish the percentages."
    )
    script.user(
        "Right. We decided that recipes stay in the notebook and only the names of the glazes go on the website."
    )
    script.plant("recipes", "decision", "recipes stay in the notebook")
    script.reply("Names only, then. Your recipes stay yours.")


def _kiln(script: Script) -> None:
    script.user("Disaster. The kiln shows error E-17 and will not go above 600 degrees. I have forty mugs waiting!")
    script.tools(
        (
            "read_manual",
            {"document": "kiln", "topic": "E-17"},
            "E-17: thermocouple reads below its slope for 20 minutes.\nCheck the sheath for cracks.\nPart: TC-S-240.",
        ),
        (
            "list_workshops",
            {"within_km": 60},
            "Kiln service Ostrand, 41 km, answers on weekdays\nHeat & Coil, 55 km, two weeks",
        ),
    )
    script.reply(
        "E-17 is almost always the thermocouple. Look for a crack in its sheath first. The part is TC-S-240, and Ostrand "
        "is 41 km away and answers on weekdays."
    )
    script.user("The sheath is cracked, you were right. For the phone call: the kiln's serial number is KX-2207-B.")
    script.plant("kiln serial", "identifier", "KX-2207-B")
    script.tools(
        (
            "ask_workshop",
            {"workshop": "Ostrand", "part": "TC-S-240", "serial": "KX-2207-B"},
            '{"in_stock": true, "price_eur": 139.00, "visit": "2031-04-10", "booking": "OST-5590-L"}',
        )
    )
    script.plant_tool("kiln repair", "OST-5590-L")
    script.reply("They have the part. 139 euros, and someone comes on Thursday 10 April; the booking is OST-5590-L.")
    script.user("Thursday is perfect, not a Wednesday, you did remember. Then the mugs wait a week.")
    script.reply("Of course. I moved the mug photos to the week after and added 139 euros to the running total.")


def _new_date(script: Script) -> None:
    script.user(
        "With the kiln standing still I will never have enough mugs. Correction: we launch on 17 May, not on 3 May. "
        "Please change it everywhere."
    )
    script.plant("launch date", "correction", "we launch on 17 May, not on 3 May")
    script.tools(
        ("move_event", {"title": "Launch", "to": "2031-05-17"}, '{"moved": true, "conflicts": []}'),
        (
            "search_files",
            {"text": "3 May"},
            "pages/about.html:14: We open on 3 May\nmail/teaser.txt:6: see you on 3 May",
        ),
    )
    script.tools(
        ("edit_file", {"path": "pages/about.html", "line": 14, "text": "We open on 17 May"}, "saved, 1 line changed"),
        ("edit_file", {"path": "mail/teaser.txt", "line": 6, "text": "see you on 17 May"}, "saved, 1 line changed"),
    )
    script.reply("Done: the calendar, the about page and the teaser all say 17 May now.")


def _press(script: Script) -> None:
    script.user("The local paper wants to write about us! A woman called Petra Sund wrote. What did she say exactly?")
    script.tools(("read_mail", {"from": "Petra Sund"}, make_thread(script.rng)))
    script.plant_tool("reporter", "direct line is 0555 014 882")
    script.reply(
        "She wants half an hour in the workshop and a photo of you at the wheel, any weekday before the twelfth. She asks "
        "what the boathouse was before. Her deadline is a Friday."
    )
    script.user(
        "Tuesday 6 May at ten, with cake. The boathouse belonged to my grandfather, he built herring barrels there."
    )
    script.plant("interview", "decision", "Tuesday 6 May at ten")
    script.reply(
        'Here is a draft: "Dear Petra, Tuesday 6 May at ten would be lovely, there will be cake. Ilse". Shall I send it?'
    )
    script.user("Send it just like that.")
    script.tools(("send_mail", {"to": "Petra Sund", "subject": "Tuesday"}, '{"sent": true, "id": "M-20417"}'))
    script.reply("Sent. I put it in the calendar with an hour before it for the cake.")


def _fee(script: Script) -> None:
    script.user("I weighed everything on the kitchen scale. What do parcels really cost me?")
    script.tools(
        (
            "shipping_table",
            {"from": "boathouse", "max_kg": 5},
            "1 kg 4.40\n2 kg 5.60\n3 kg 6.90\n5 kg 9.80\nfragile +1.10",
        ),
        (
            "list_products",
            {"fields": ["weight"]},
            "mug 0.42 kg\nwide bowl 1.30 kg\nserving plate 1.75 kg\nvase, tall 2.60 kg",
        ),
    )
    script.reply(
        "Packed, a mug is just under a kilo and costs you 5.50 with the fragile sticker. A tall vase is over three. With a "
        "flat 4.90 you lose sixty cents on every mug."
    )
    script.user("Ouch. Actually no, make it 5.90 euros flat instead of 4.90, and free above 80 euros.")
    script.plant("shipping fee", "correction", "make it 5.90 euros flat instead of 4.90")
    script.reply("The fee is 5.90 now, free from 80 euros. On the average order you come out about even.")


def _launch(script: Script) -> None:
    script.user("It is the day before. I cannot sleep. Go through the list with me one more time?")
    script.tools(
        (
            "run_checks",
            {"suite": "launch"},
            "payment ok\nshipping ok\nimprint ok\nstock ok\nimages: 2 missing\n34 passed, 1 warning",
        ),
        ("read_bank", {"month": "2031-04"}, make_statement(script.rng)),
        ("list_orders", {"status": "test"}, "FC-1001 test order, refunded\nFC-1002 test order, refunded"),
    )
    script.reply(
        "All green but two missing pictures, both of the small saucer. Payment, shipping and the imprint with the company "
        "number are fine, and the test orders were refunded. You can sleep."
    )
    script.user(
        "Hide the saucer until I have pictures. And my sister Agnes answers the phone in launch week, on 0555 017 306."
    )
    script.plant("launch phone", "identifier", "0555 017 306")
    script.tools(("set_visibility", {"product": "small saucer", "visible": False}, '{"ok": true}'))
    script.reply("The saucer is hidden, and Agnes' number stands on the contact page for the week.")


def _after(script: Script) -> None:
    script.user("We are open!! Eleven orders before lunch. ELEVEN. Agnes is dancing with the packing tape.")
    script.reply("Congratulations, Ilse! Eleven on the first morning is more than the market's best hour.")
    script.user("The very first order is FC-1043, from a lighthouse keeper. I want to frame it.")
    script.plant("first order", "identifier", "The very first order is FC-1043")
    script.tools(("print_order", {"order": "FC-1043", "paper": "A5"}, '{"queued": true, "pages": 1}'))
    script.reply("It is in the printer, on the good paper.")
    script.user(
        "I prefer to pack in the mornings, so please give me the list at seven, sorted by weight, heaviest first."
    )
    script.plant("packing list", "standing", "give me the list at seven, sorted by weight, heaviest first")
    script.reply("Every morning at seven, heaviest first.")


# The days fit the calendar of 2031, which the story speaks of: 17 May is a Saturday.
CHAPTERS: Final[tuple[tuple[date, Callable[[Script], None]], ...]] = (
    (date(2031, 3, 3), _beginning),
    (date(2031, 3, 10), _name),
    (date(2031, 3, 17), _launch_date),
    (date(2031, 3, 24), _boxes),
    (date(2031, 3, 28), _payment),
    (date(2031, 3, 31), _notebook),
    (date(2031, 4, 7), _kiln),
    (date(2031, 4, 14), _new_date),
    (date(2031, 4, 29), _press),
    (date(2031, 5, 8), _fee),
    (date(2031, 5, 16), _launch),
    (date(2031, 5, 17), _after),
)
