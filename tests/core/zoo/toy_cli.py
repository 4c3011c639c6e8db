"""The command line with the toy as its only room, for tests that need a process of their own."""

import sys

import toy_echo

from contracts import cli, rooms

rooms.ROOMS.clear()
rooms.ROOMS["toy"] = ("echo",)
rooms.PREFIXES.clear()
rooms.PREFIXES["toy"] = "TY"
sys.modules["contracts.toy"] = toy_echo

if __name__ == "__main__":
    cli.main()
