"""Reading text files that come from outside."""

from __future__ import annotations

import os
from pathlib import Path

from dpwords.errors import InvalidValue, TooLarge

LARGEST_FILE = 2**28  # bytes


def read_text(path: str | os.PathLike[str]) -> str:
    """A UTF-8 file as text, without a byte-order mark; refused if it is too large or not text."""
    name = Path(path).name
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise TooLarge(f"{name} is larger than {LARGEST_FILE // 2**20} MiB: give a smaller file")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidValue(f"{name} is not UTF-8 text: convert it to UTF-8") from None
    except OSError as error:
        raise InvalidValue(f"{name} cannot be read ({error.strerror}): check the path") from None
    except ValueError:
        raise InvalidValue("a path may not contain a null character: check the path") from None
