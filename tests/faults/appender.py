"""A process that appends messages of its own to a session that others append to as well, with a window now and then.

Arguments: the database, the writer's name, how many messages.
"""

import sys

import anyio

import everfold


async def write(path: str, name: str, messages_count: int) -> None:
    """Append numbered messages one by one; some in pairs, under client ids that are used twice."""
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=2_500)
        for number in range(0, messages_count, 2):
            pair = [{"role": "user", "content": f"{name} says {number + step}. " + "So be it. " * 9} for step in (0, 1)]
            await session.append(pair, client_id=f"{name}-{number}")
            if number % 10 == 0:
                await session.append(pair, client_id=f"{name}-{number}")
                await session.window()


if __name__ == "__main__":
    anyio.run(write, sys.argv[1], sys.argv[2], int(sys.argv[3]))
