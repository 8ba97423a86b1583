"""What replaces what: whether a newer statement takes the place of an older one, decided over the two alone.

The rules were tuned on `own.jsonl`, `fresh.jsonl`, `phrasings.jsonl`, `styles.jsonl`, `tempting.jsonl` and
`hostile.jsonl` of `tests/data/supersession`, and on the public pairs that docs/adr/0031-what-replaces-what.md tells of: `unseen.jsonl` and
`held_back.jsonl` say what they are worth.
"""
