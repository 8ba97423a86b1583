"""Packing messages: the JSON of a message, and its extract lines, in about half of their size.

Most messages are short, so each is compressed with a dictionary of what messages say: the frames of the providers' forms, and
frequent English words. A long one is stored as it is: it is a large part of a turn's time to compress, and what is long is
mostly the output of tools. The first byte tells which: JSON begins with `{` or `[`.

Only SQLite stores them so; PostgreSQL compresses by itself. Rows of both kinds are read from every store.

Source: RFC 1951 (DEFLATE); the words are our own list. Own measurement, 2,080 messages of LoCoMo on a quiet machine: 245 bytes
become 136, in 14 microseconds, and are read in 2.
"""

import zlib
from typing import Final, TypeAlias

SqlValue: TypeAlias = int | float | bytes | str | None

_MARK: Final = b"\x02"
_WINDOW_BITS: Final = -13
_MEMORY_LEVEL: Final = 5
_LEAST_BYTES: Final = 90
"""Shorter ones shrink by little."""
_MOST_BYTES: Final = 8_192
_DICTIONARY: Final = (
    b"information government development international university management experience community education de"
    b"partment available including following important different according business research increase provide "
    b"together question understand remember something anything everything everyone someone sometimes probably "
    b"definitely actually especially interesting beautiful wonderful favourite favorite difficult possible pro"
    b"blem example because through although between without within against during before another however wheth"
    b"er already always never usually really maybe perhaps almost enough quite rather family friends children "
    b"parents mother father brother sister house home school company office meeting project customer morning e"
    b"vening weekend yesterday tomorrow tonight today Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    b" January February March April June July August September October November December minutes hours days we"
    b"eks months years thought think thinking looking working making getting going having taking using trying "
    b"coming feeling started finished called changed needed wanted asked used found made done said told went c"
    b"ame took gave left kept felt looked worked great good better best little small large long high next last"
    b" first second other more most many much very well just only even still again also then than there here w"
    b"here when while what which who how why about after around over under into from with for people person wo"
    b"rld place point number part thing things time life work help hand name city country water money food boo"
    b"k music error failed warning result value return function class import default string number object list"
    b" file path line test tests Sorry, Please Thanks! Thank you so much for Congratulations! That's great! Th"
    b"at sounds awesome! Wow, Hey Hi Hello Yes, No, Yeah, Sure, Okay, I'm I've I'll I'd it's It's that's That'"
    b"s what's What's there's let's don't didn't doesn't can't couldn't won't isn't aren't wasn't you're You'r"
    b"e you've we're We're we've they're I have been I am going to I would like to I want to do you have you b"
    b"een looking forward to a lot of one of the some of the as well as at the same time in the end on the oth"
    b"er hand you can see if you are in the of the to the and the for the on the with the at the from the by t"
    b"he it is it was this is that was have to has been will be would be should be could be can be is a was a "
    b"to be and I to my for my of my with my in my how are you? what do you think? how about you? have you eve"
    b"r "
    b'","0,"external"],[17,34,0,[44,104],0],[15,19,105,[149,56],0]]"}}]},{"type":"function_call","call_id":"ca'
    b'll_","name":"","arguments":"{\\"{"type":"function_call_output","call_id":"call_","output":"{"type":"reaso'
    b'ning","id":"rs_","summary":[],"encrypted_content":"{"role":"user","content":[{"type":"tool_result","tool'
    b'_use_id":"toolu_","content":[{"type":"text","text":"","is_error":false}]}{"role":"assistant","content":['
    b'{"type":"thinking","thinking":"","signature":""},{"type":"tool_use","id":"toolu_","name":"","input":{"{"'
    b'role":"tool","tool_call_id":"call_","name":"","content":"{\\"{"role":"system","content":"{"role":"assista'
    b'nt","content":null,"tool_calls":[{"id":"call_","type":"function","function":{"name":"","arguments":"{\\""'
    b'},{"type":"image_url","image_url":{"url":"data:image/png;base64,"},{"type":"file","file":{"filename":"",'
    b'"file_data":"data:text/plain;base64,{"role":"assistant","name":"","content":[{"type":"text","text":"{"ro'
    b'le":"user","name":"","content":[{"type":"text","text":"{"role":"assistant","content":"{"role":"user","co'
    b'ntent":"'
)
"""Never changed: rows were packed with it. Another one gets another mark."""


def pack_message(content: bytes) -> bytes:
    """JSON as it is stored. What is packed already, short or long stays as it is."""
    if not _LEAST_BYTES <= len(content) <= _MOST_BYTES or content.startswith(_MARK):
        return content
    packer = zlib.compressobj(6, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zdict=_DICTIONARY)
    packed = _MARK + packer.compress(content) + packer.flush()
    return packed if len(packed) < len(content) else content


def unpack_message(content: object) -> object:
    """The JSON that `pack_message` was given; what no row of ours has stays as it is.

    Raises:
        zlib.error: the row is damaged.
    """
    if not isinstance(content, bytes) or not content.startswith(_MARK):
        return content
    unpacker = zlib.decompressobj(_WINDOW_BITS, zdict=_DICTIONARY)
    return unpacker.decompress(content[len(_MARK) :]) + unpacker.flush()


def sql_pack_message(*values: SqlValue) -> SqlValue:
    """`pack_message` as the queries call it."""
    return pack_message(values[0]) if isinstance(values[0], bytes) else values[0]
