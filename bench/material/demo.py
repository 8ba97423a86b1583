"""The conversation that `everfold demo` folds: Ilse opens a web shop for her pottery, over ten weeks, with an assistant.

It has tool calls, parallel calls, a pasted notebook far over any cap, corrections, and facts planted with the exact
words to look for later. The seed changes order numbers, quantities, phrasing and the order of daily work; the story
and its facts stay. The package has the telling of one seed as a file, which `python -m bench.pack_demo` writes.
"""

from bench.material.demo_days import DailyWork
from bench.material.demo_script import DemoLog, Script
from bench.material.demo_story import CHAPTERS


def demo_log(seed: int = 7) -> DemoLog:
    """Tell the story of the pottery shop: some 480 messages, some 60,000 tokens (cl100k_base), and what was planted in it."""
    script = Script(seed)
    work = DailyWork(script)
    for day, chapter in CHAPTERS:
        work.do_until(day)
        script.open_day(day)
        chapter(script)
    work.finish()
    return script.log
