"""The exceptions that dpwords raises.

DPWordsError
├── InvalidValue (ValueError)     an argument breaks a rule
│   ├── NotInLanguage             the word is not one of the words that may be released
│   └── NotDeterministic          a state and a symbol lead to more than one state
├── MissingExtra (ImportError)    an optional package is not installed
└── TooLarge (MemoryError)        the result is well defined but would take too much memory or time

A message is one line: the rule, then the remedy. It may name a position in a word but never one of its symbols. A
parameter in it is written with `named`, so that Python, the command line and the page each show it in their own way.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST_NAME = 60  # characters of a name in a message
_BEGIN, _VALUE, _END = "\ue000\ue001\ue002"  # around the name of a parameter and its value; of no character set
_MARKS = {_BEGIN, _VALUE, _END}
_PARAMETER = re.compile(f"{_BEGIN}([a-z_]+)(?:{_VALUE}([^{_BEGIN}-{_END}]*))?{_END}")


def named(name: str, value: str | int | None = None) -> str:
    """A parameter in a message, or a parameter with the value that it should have, which is True for a flag.

    >>> str(InvalidValue(f"name the column with {named('by')}, or use {named('invalid', 'skip')}"))
    "name the column with by=, or use invalid='skip'"
    """
    return f"{_BEGIN}{name}{'' if value is None else f'{_VALUE}{value}'}{_END}"


def as_argument(name: str, value: str | None) -> str:
    """A parameter as Python code has it."""
    argument = "mechanism_name" if name == "mechanism" else name  # in Python, `mechanism` is a method of recipes
    if value is None:
        return f"{argument}="
    code = value if value == "True" or value.isdecimal() else repr(value)
    return f"{argument}=[{code}]" if name == "rules" else f"{argument}={code}"


def rendered(message: str, write: Callable[[str, str | None], str] = as_argument) -> str:
    """A message in which each parameter is written as `write` puts it, from its name and its value or None."""
    return _PARAMETER.sub(lambda found: write(found[1], found[2]), message)


class DPWordsError(Exception):
    """The base class of all exceptions of this package. Whatever names a message contains, it is one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))

    @property
    def message(self) -> str:
        """The message as it was made, for `rendered` and for messages that have this one inside."""
        return str(self.args[0])

    def __str__(self) -> str:
        return rendered(self.message)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class InvalidValue(DPWordsError, ValueError):
    """An argument breaks a rule that the message names."""


class NotInLanguage(InvalidValue):
    """The word is not in the language. A mechanism raises this before it draws anything."""


class NotDeterministic(InvalidValue):
    """A state has more than one successor under the same symbol."""


class MissingExtra(DPWordsError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class TooLarge(DPWordsError, MemoryError):
    """The computation would need more memory or time than its stated limit."""


def one_line(message: str) -> str:
    """A message as one line of printable characters; a name from a damaged file can have any, and any length.

    >>> one_line("state a\\nb is not a state")
    'state a b is not a state'
    """
    return " ".join(_short(part) for part in message.split())


def _short(part: str) -> str:
    shown = part if len(part) <= _LONGEST_NAME else f"{part[:_LONGEST_NAME]}…"
    return "".join(each if each.isprintable() or each in _MARKS else "�" for each in shown)


@contextmanager
def unchained() -> Iterator[None]:
    """Let our errors leave the block without the errors that they come from. Also a decorator.

    `raise … from None` only hides those: a `UnicodeDecodeError` behind ours would still hold the whole private text. An
    error that was being handled before the block, which is the caller's, stays.
    """
    before = sys.exc_info()[1]
    try:
        yield
    except DPWordsError as error:
        error.__context__ = before
        raise


@contextmanager
def within_memory() -> Iterator[None]:
    """What all operations on private words have around them: a failed allocation becomes `TooLarge`. Also a decorator.

    A system can have less memory than our limits allow. A column of text that is not UTF-8, which a damaged file can
    have, becomes `InvalidValue`, since Python's own error holds the whole text. Our errors are `unchained`, too.

    >>> with within_memory():
    ...     bytes(2**62)
    Traceback (most recent call last):
    dpwords.errors.TooLarge: there is not enough memory for this: use a shorter word or a smaller system
    """
    with unchained():
        try:
            yield
        except TooLarge:
            raise
        except MemoryError:
            raise TooLarge(NO_MEMORY) from None
        except UnicodeError:
            raise InvalidValue(NOT_TEXT) from None


NO_MEMORY = "there is not enough memory for this: use a shorter word or a smaller system"
NOT_TEXT = "some text is not valid UTF-8: convert it to UTF-8"


def own_failure(error: Exception) -> str:
    """What users are told about an exception that nobody expected: where it was raised, and not its text.

    The text could have a symbol of a private word.
    """
    from traceback import extract_tb

    where = extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
    return f"dpwords itself failed ({place}): please report it with what you did, but not with your word"
