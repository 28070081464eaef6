"""The exceptions that dpwords raises.

DPWordsError
├── InvalidValue (ValueError)     an argument breaks a rule
│   ├── NotInLanguage             the word is not one of the words that may be released
│   └── NotDeterministic          a state and a symbol lead to more than one state
├── MissingExtra (ImportError)    an optional package is not installed
└── TooLarge (MemoryError)        the result is well defined but would take too much memory or time

A message is one line: the rule, then the remedy. It may name a position in a word but never one of its symbols.
"""


class DPWordsError(Exception):
    """The base class of all exceptions of this package."""


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
