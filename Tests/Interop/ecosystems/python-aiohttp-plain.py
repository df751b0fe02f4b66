"""Prints the body of a URL by aiohttp, with no settings of its own."""
import asyncio
import sys

import aiohttp


async def main():
    async with aiohttp.ClientSession() as session, session.get(sys.argv[1]) as answer:
        answer.raise_for_status()
        sys.stdout.buffer.write(await answer.read())


asyncio.run(main())
