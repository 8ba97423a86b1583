"""Fit the weights of the token estimate against cl100k_base and print them as they stand in `core/text/tokens.py`.

The patterns are taken from there; to try another one, add it with any weight and run this. Least squares of the
relative error, every corpus of the same importance, with texts made of random characters and long runs beside the
real ones so that no pattern becomes free. Round over round, messages that come out low weigh more, made texts that
come out high weigh less, and corpora outside the middle of the wanted range get more importance.
Every second message is left out, for `tokens_accuracy.py` to be an honest measure on the rest.

    python bench/fit_tokens.py
"""

import base64
import hashlib
import random
import string
from collections.abc import Iterator

from everfold.core.text import tokens
from token_corpora import Corpora, find_data_folder, load_data_corpora, load_encodings, load_machine_corpora

_TARGET = 1.075
_RIDGE = 1e-4
_ROUNDS = 6
_IMPORTANCE = {"made: blobs": 0.4, "made: runs": 0.3, "made: digits": 0.2, "made: capitals": 0.2, "made: noise": 0.1}

Row = tuple[list[int], int]


def main() -> None:
    """Fit and print."""
    folder = find_data_folder()
    corpora = load_machine_corpora() | (load_data_corpora(folder) if folder else {}) | _made_texts()
    encoding = load_encodings()["cl100k"]
    rows = {
        name: [
            (_features(text), real) for text in texts[::2][:400] if (real := len(encoding.encode_ordinary(text))) >= 5
        ]
        for name, texts in corpora.items()
    }
    importance = {name: _IMPORTANCE.get(name, min(1.0, len(texts) / 60)) for name, texts in rows.items()}
    weights: list[float] = []
    for _ in range(_ROUNDS):
        weights = _solve(*_normal_equations(rows, importance, weights))
        _raise_importance(rows, weights, importance)
    _print_tables(weights)


def _features(text: str) -> list[int]:
    """How often each pattern occurs in the classes of a text."""
    raw = text.encode("utf-8", "surrogatepass")
    kinds = raw.translate(tokens._KINDS, tokens._CONTINUATION).decode()  # noqa: SLF001
    return [kinds.count(pattern) for pattern in tokens._WEIGHTS]  # noqa: SLF001


def _made_texts() -> Corpora:
    """Texts of random bytes in the usual codings, of random characters, and long runs of one of them."""
    rng = random.Random(3)
    digests = [
        b"".join(hashlib.sha256(f"{n}/{k}".encode()).digest() for k in range(rng.randrange(2, 24))) for n in range(120)
    ]
    alphabets = [string.printable[:95], string.printable[:95], string.ascii_lowercase, string.ascii_uppercase]
    units = [
        "+------+\n| a    |\n",
        "| a | b |\n|---|---|\n",
        "PAY BEFORE THE END OF MAY. ",
        "a b c ",
        "[[1, 2], [3, 4]]\n",
        "1.5\t2.5\t",
    ]
    return {
        "made: blobs": [text for digest in digests for text in _codings(digest)],
        "made: digits": ["".join(str(byte) for byte in digest)[: rng.choice([30, 100, 900])] for digest in digests],
        "made: capitals": [text.upper() for text in load_machine_corpora()["prose: docstrings"][:100]],
        "made: noise": ["".join(rng.choices(alphabets[n % 4], k=rng.randrange(80, 900))) for n in range(120)],
        "made: runs": [unit * n for unit in [*"-=*#_.~+|/\\ \n\tax0X", *units] for n in (60, 60, 300, 300)],
    }


def _codings(digest: bytes) -> Iterator[str]:
    yield base64.b64encode(digest).decode()
    yield base64.urlsafe_b64encode(digest).decode()
    yield digest.hex()
    yield " ".join(digest[at : at + 4].hex() for at in range(0, len(digest), 4))
    yield "\n".join(digest[at : at + 16].hex("-", 4) for at in range(0, len(digest), 16))
    yield "".join(str(byte) for byte in digest)


def _normal_equations(
    rows: dict[str, list[Row]], importance: dict[str, float], before: list[float]
) -> tuple[list[list[float]], list[float]]:
    """The matrix and the right side of the weighted least squares.

    The base of a whole token rounds up: on the mean half of it is lost again, so half is taken off what is aimed at.
    """
    size = len(next(iter(rows.values()))[0][0])
    matrix, right = [[0.0] * size for _ in range(size)], [0.0] * size
    for name, corpus in rows.items():
        for features, real in corpus:
            weight = importance[name] * _lean(name, before, features, real) / max(30, len(corpus)) / (real + 8) ** 2
            present = [(index, value) for index, value in enumerate(features) if value]
            for index, value in present:
                right[index] += weight * value * (real * _TARGET - 0.5)
                for other, other_value in present:
                    matrix[index][other] += weight * value * other_value
    for index in range(size):
        matrix[index][index] = matrix[index][index] * (1 + _RIDGE) or 1.0
    return matrix, right


def _lean(name: str, before: list[float], features: list[int], real: int) -> float:
    """More for a message that the last round put too low, less for a made one that it put high."""
    if not before:
        return 1.0
    estimate = sum(map(float.__mul__, before, map(float, features)))
    if estimate < real:
        return 2.0
    return 0.1 if name.startswith("made") and estimate > real * _TARGET else 1.0


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination with the largest pivot."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column:
                factor = rows[row][column]
                rows[row] = [value - factor * above for value, above in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def _raise_importance(rows: dict[str, list[Row]], weights: list[float], importance: dict[str, float]) -> None:
    """Give corpora whose estimate left the middle of the wanted range more say in the next round."""
    for name, corpus in rows.items():
        estimate = sum(sum(map(float.__mul__, weights, map(float, features))) for features, _ in corpus)
        ratio = estimate / sum(real for _, real in corpus)
        print(f"{name:22s} {ratio:.3f} importance {importance[name]:.2f}")
        if not name.startswith("made") and not 1.04 <= ratio <= 1.12:
            importance[name] = min(3.0, importance[name] * 1.4)
    print()


def _print_tables(weights: list[float]) -> None:
    for pattern, weight in zip(tokens._WEIGHTS, weights, strict=True):  # noqa: SLF001
        print(f"    {pattern!r}: {round(weight * 1000)},")


if __name__ == "__main__":
    main()
