"""The command line with the toy room added, for tests that need a process of their own."""

import sys

import toy_echo

from contracts import cli, rooms

rooms.ROOMS["toy"] = ("echo",)
sys.modules["contracts.toy"] = toy_echo

if __name__ == "__main__":
    cli.main()
