"""Everything that dpwords raises on purpose.

DPWordsError
├── InvalidValue (ValueError)     an argument breaks a rule
│   ├── NotInLanguage             the word is not one of the words that may be released
│   └── NotDeterministic          a state and a symbol lead to more than one state
├── MissingExtra (ImportError)    an optional package is not installed
└── TooLarge (MemoryError)        the answer is defined, but would not fit

A message is one line: the rule, then the remedy. It may give a position in a word, never a symbol of one.
"""


class DPWordsError(Exception):
    """Base of all errors of this package."""


class InvalidValue(DPWordsError, ValueError):
    """An argument breaks a rule that the message names."""


class NotInLanguage(InvalidValue):
    """The word is not in the mechanism's language, so nothing was drawn."""


class NotDeterministic(InvalidValue):
    """A state has two successors under one symbol."""


class MissingExtra(DPWordsError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class TooLarge(DPWordsError, MemoryError):
    """The computation would need more memory or time than its stated limit."""
