"""Reading the one file out of a wheel: nothing is unpacked, installed or imported."""

import zipfile
import zlib
from pathlib import Path

from contracts.gym_overflow.gym.errors import SourceUnavailable, SourceUnreadable
from contracts.gym_overflow.gym.releases import FILE

LARGEST_FILE = 5 * 1024 * 1024
"""Bytes. Gym's file has under 100 kB; anything near this is not that file."""


def read_file(wheel: Path) -> bytes:
    """The bytes of `releases.FILE` in a wheel.

    Raises:
        SourceUnavailable: no such wheel, no wheel at all, no such file in it, or one of an absurd size.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(FILE)
            if info.file_size > LARGEST_FILE:
                raise SourceUnavailable(
                    f"{wheel}: {FILE} claims {info.file_size:,} bytes, over the limit of {LARGEST_FILE:,}: "
                    f"this is not Gym's file. Check where the wheel comes from."
                )
            with archive.open(info) as member:
                return member.read(LARGEST_FILE + 1)
    except KeyError as error:
        raise SourceUnavailable(
            f"{wheel}: looked for {FILE} in this wheel and it is not there. Is it a NeMo Gym wheel, 0.2.0 or newer?"
        ) from error
    # RuntimeError is what zipfile raises for an encrypted file, and for a compression that it does not know.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise SourceUnavailable(f"{wheel}: cannot be read as a wheel: {error}. Download it again.") from error
    except OSError as error:
        raise SourceUnavailable(f"{wheel}: cannot be opened: {error.strerror}. Check the path.") from error


def decoded(data: bytes, path: str) -> str:
    """The text of a Python file, line ends untouched.

    Raises:
        SourceUnreadable: it is too large, or not UTF-8.
    """
    if len(data) > LARGEST_FILE:
        raise SourceUnreadable(f"{path}: {len(data):,} bytes, over the limit of {LARGEST_FILE:,}: not Gym's file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceUnreadable(
            f"{path}: not UTF-8 text (byte {error.start}): not the Python file that was looked for."
        ) from error
