"""Keyed draws: the bits that draw a word are a function of a secret key, the word's id, public parameters and the word.

Each word gets a *seed* of 128 bits: a CBC-MAC, by AES-256, of its id and its symbols. The bits of a word are then the
encryptions of seed, seed + 1, seed + 2, … under another key. Both keys are derived from the secret key; the latter two
also depend on the public parameters of the mechanism (docs/theory.md, section 8). Everything is computed for many
words at a time, so that AES runs over long arrays.
"""

from __future__ import annotations

import copy
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from dpwords.core.randomness import Stream
from dpwords.core.scaled import Integers
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue

CipherBlocks = NDArray[np.uint64]  # the last axis has the two halves of a block
KEY_BYTES = 32
_BLOCK = 16  # bytes
_LONG = 256  # bytes; longer messages are hashed first
_WHOLE_NUMBER, _TEXT, _BYTES = range(3)  # kinds of ids: 1 and "1" are different ids
_KIND = "an id must be a str, a whole number of at most 64 bits, or bytes: convert it, for example with str"


class KeyedStreams(Stream):
    """One stream for each of several rows; the items of a row share its stream, one behind the other.

    `take` gives each item the same number of bytes. What a row receives depends only on its seed and on what its own
    items have taken so far, and not on other rows.
    """

    shared = False

    def __init__(self, cipher: Any, seeds: CipherBlocks) -> None:
        self._cipher, self._seeds = cipher, seeds
        self._used: Integers = np.zeros(len(seeds), dtype=np.int64)  # blocks, for each row
        self._rows: Integers = np.arange(len(seeds))  # the rows that have items, in ascending order
        self._times: Integers = np.ones(len(seeds), dtype=np.int64)  # the number of items of each of these rows

    def of(self, items: Any) -> KeyedStreams:
        ends = np.cumsum(self._times)
        number = int(ends[-1]) if len(ends) else 0
        if isinstance(items, slice) and number == len(ends):
            return self._with(self._rows[items], self._times[items])
        numbers = np.atleast_1d(np.arange(number)[items] if isinstance(items, slice) else items)
        positions = np.searchsorted(ends, numbers, side="right")
        first = np.flatnonzero(np.diff(positions, prepend=-1))
        return self._with(self._rows[positions[first]], np.diff(first, append=len(numbers)))

    def repeated(self, times: Integers) -> KeyedStreams:
        starts = np.cumsum(self._times) - self._times
        sums = times if len(times) == len(self._rows) else np.add.reduceat(times, starts)
        some = np.flatnonzero(sums)
        return self._with(self._rows[some], sums[some])

    def one(self, item: int) -> Stream:
        return _RowStream(self.of(item))

    def take(self, count: int) -> bytes | memoryview:
        if not count:
            return b""
        number, times = int(self._times.sum()), self._times
        each = count // number
        blocks = -(-times * each // _BLOCK)
        bits = self._next(blocks)
        if times.min() == times.max():
            mine = bits.reshape(len(times), -1)[:, : int(times[0]) * each]
            return np.ascontiguousarray(mine).reshape(-1).data
        begins = _BLOCK * (np.cumsum(blocks) - blocks) - each * (np.cumsum(times) - times)
        positions = each * np.arange(number) + np.repeat(begins, times)
        if each == 8:
            taken: NDArray[np.uint8] = bits.view(np.uint64)[positions >> 3].view(np.uint8)
        else:
            taken = bits[positions[:, None] + np.arange(each)].reshape(-1)
        return taken.data

    def _next(self, blocks: Integers) -> NDArray[np.uint8]:
        """The next blocks of each row that has items."""
        number, used = len(blocks), self._used[self._rows]
        self._used[self._rows] += blocks
        seeds = self._seeds[self._rows]
        most = int(blocks[0])
        if (blocks == most).all():
            plain = np.empty((number, most, 2), dtype=np.uint64)
            plain[:, :, 0] = seeds[:, :1]
            plain[:, :, 1] = (seeds[:, 1] + used.astype(np.uint64))[:, None] + np.arange(most, dtype=np.uint64)
        else:
            counters = np.arange(int(blocks.sum())) - np.repeat(np.cumsum(blocks) - blocks - used, blocks)
            plain = np.repeat(seeds, blocks, axis=0)
            plain[:, 1] += counters.astype(np.uint64)
        return _encrypted(self._cipher, plain).view(np.uint8).reshape(-1)

    def _with(self, rows: Integers, times: Integers) -> KeyedStreams:
        """The same streams, for other items."""
        other = copy.copy(self)
        other._rows, other._times = rows, times
        return other


class _RowStream(Stream):
    """The stream of one row."""

    def __init__(self, row: KeyedStreams) -> None:
        self._row = row

    def take(self, count: int) -> bytes | memoryview:
        return self._row.take(count)


@dataclass(frozen=True)
class Key:
    """A secret key of 32 bytes."""

    secret: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != KEY_BYTES:
            raise InvalidValue(f"a key must be {KEY_BYTES} bytes: pass for example secrets.token_bytes({KEY_BYTES})")

    def __repr__(self) -> str:
        return "Key(…)"

    @classmethod
    def fresh(cls) -> Self:
        """A key that nobody knows."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def derived(self, purpose: str) -> bytes:
        """Another key, of 32 bytes, which tells nothing about this one."""
        return hmac.digest(self.secret, purpose.encode("utf-8", "surrogatepass"), "sha256")

    def id_tags(self, ids: Ids) -> CipherBlocks:
        """A tag of 128 bits for each id: equal exactly for equal ids."""
        cipher = _cipher(self.derived("ids"))
        if ids.whole_numbers is not None:
            column = np.zeros((len(ids), 2), dtype=np.uint64)
            column[:, 0] = ids.whole_numbers.view(np.uint64)
            return _mac(cipher, ids.headers[:1], [column])
        tags = np.empty((len(ids), 2), dtype=np.uint64)
        for number in np.unique(blocks := ids.blocks):
            some = np.flatnonzero(blocks == number)
            padded = ids.padded(some, int(number))
            tags[some] = _mac(cipher, ids.headers[some], [padded[:, position] for position in range(int(number))])
        return tags

    def streams(self, parameters: str, id_tags: CipherBlocks, rows: Codes) -> KeyedStreams:
        """A stream for each row of symbol codes. Cost: about 100 nanoseconds for each row, and its bytes."""
        content = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
        header = np.array([[rows.shape[1], rows.dtype.itemsize]], dtype=np.uint64)
        if content.shape[1] > _LONG:
            hashes = b"".join(hashlib.sha256(row.tobytes()).digest() for row in content)
            content = np.frombuffer(hashes, dtype=np.uint8).reshape(len(rows), -1)
        blocks = _in_blocks(content)
        columns = [id_tags, *(blocks[:, position] for position in range(blocks.shape[1]))]
        seeds = _mac(_cipher(self.derived(f"seeds {parameters}")), header, columns)
        return KeyedStreams(_cipher(self.derived(f"bits {parameters}")), seeds)


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of several words, as bytes: whole numbers as 8 bytes, texts in UTF-8."""

    headers: CipherBlocks  # for each id, its kind and its number of bytes
    content: Ragged

    def __len__(self) -> int:
        return len(self.headers)

    @classmethod
    def numbers(cls, numbers: Integers) -> Self:
        """Whole numbers."""
        content = np.ascontiguousarray(numbers, dtype="<i8").view(np.uint8)
        return cls._of_kind(_WHOLE_NUMBER, Ragged(content, 8 * np.arange(1, len(numbers) + 1)))

    @classmethod
    def texts(cls, content: Ragged) -> Self:
        """Texts, given as UTF-8."""
        return cls._of_kind(_TEXT, content)

    @classmethod
    def of(cls, ids: Iterable[Any]) -> Self:
        """Any ids: str, whole numbers or bytes. Cost: about 300 nanoseconds each, none for an array."""
        if isinstance(ids, cls):
            return ids
        if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype.kind in "iu":
            if ids.dtype.kind == "u" and ids.max(initial=0) >= 2**63:
                raise InvalidValue(_KIND)
            return cls.numbers(ids)
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
            raise InvalidValue("ids must be a list with one id for each word: pass a list")
        given = list(ids)
        if set(map(type, given)) == {str} and (text := "".join(given)).isascii():
            sizes = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
            return cls.texts(Ragged(np.frombuffer(text.encode(), dtype=np.uint8), np.cumsum(sizes)))
        encoded = [_id_bytes(one) for one in given]
        kinds = np.array([kind for kind, _ in encoded], dtype=np.uint64)
        contents = [content for _, content in encoded]
        ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
        return cls._of_kind(kinds, Ragged(np.frombuffer(b"".join(contents), dtype=np.uint8), ends))

    @classmethod
    def _of_kind(cls, kind: Any, content: Ragged) -> Self:
        headers = np.empty((len(content), 2), dtype=np.uint64)
        headers[:, 0], headers[:, 1] = kind, np.diff(content.ends, prepend=0)
        return cls(headers, content)

    @property
    def whole_numbers(self) -> Integers | None:
        """All ids, if they are whole numbers."""
        return None if self.headers[:, 0].any() else self.content.values.view("<i8")

    @property
    def blocks(self) -> Integers:
        """The number of blocks of each id."""
        sizes = self.headers[:, 1].astype(np.int64)
        return np.where(sizes > _LONG, 2, -(-sizes // _BLOCK))

    def padded(self, some: Integers, number: int) -> CipherBlocks:
        """The content of some ids, `number` blocks each, filled up with zeros; that of long ids is hashed."""
        ends, sizes = self.content.ends[some], self.headers[some, 1].astype(np.int64)
        padded = np.zeros((len(some), number * _BLOCK), dtype=np.uint8)
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            begins = ends[rows] - size
            if size > _LONG:
                for row, begin in zip(rows.tolist(), begins.tolist(), strict=True):
                    digest = hashlib.sha256(self.content.values[begin : begin + size].tobytes()).digest()
                    padded[row] = np.frombuffer(digest, dtype=np.uint8)
            else:
                padded[rows, :size] = self.content.values[begins[:, None] + np.arange(size)]
        return _in_blocks(padded)


def distinct(tags: CipherBlocks) -> bool:
    """Whether no tag occurs twice. Cost: sorting them."""
    halves = np.sort(tags[:, 0])
    if not (halves[1:] == halves[:-1]).any():
        return True
    ordered = tags[np.lexsort((tags[:, 1], tags[:, 0]))]
    return not (ordered[1:] == ordered[:-1]).all(axis=1).any()


def _id_bytes(one: Any) -> tuple[int, bytes]:
    if isinstance(one, str):
        return _TEXT, one.encode("utf-8", "surrogatepass")
    if isinstance(one, bytes):
        return _BYTES, one
    if isinstance(one, (int, np.integer)) and not isinstance(one, bool) and -(2**63) <= one < 2**63:
        return _WHOLE_NUMBER, int(one).to_bytes(8, "little", signed=True)
    raise InvalidValue(_KIND)


def _cipher(key: bytes) -> Any:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # of single blocks: modes are built from them here


def _encrypted(cipher: Any, plain: CipherBlocks) -> CipherBlocks:
    """Each block, encrypted by itself."""
    plain = np.ascontiguousarray(plain, dtype="<u8")
    out = np.empty(plain.nbytes + _BLOCK, dtype=np.uint8)
    cipher.update_into(plain.view(np.uint8).reshape(-1), out.data)
    return out[: plain.nbytes].view(np.uint64).reshape(plain.shape)


def _in_blocks(content: NDArray[np.uint8]) -> CipherBlocks:
    """Rows of bytes as rows of blocks, filled up with zeros."""
    if content.shape[1] % _BLOCK == 0:
        return content.view(np.uint64).reshape(len(content), -1, 2)
    padded = np.zeros((len(content), -(-content.shape[1] // _BLOCK) * _BLOCK), dtype=np.uint8)
    padded[:, : content.shape[1]] = content
    return padded.view(np.uint64).reshape(len(content), -1, 2)


def _mac(cipher: Any, headers: CipherBlocks, columns: Sequence[CipherBlocks]) -> CipherBlocks:
    """The CBC-MAC of messages that consist of a header, which may be the same for all, and one block of each column.

    The header must determine the number of blocks, so that no message is the beginning of another one.
    """
    state = _encrypted(cipher, headers)
    for column in columns:
        state = _encrypted(cipher, state ^ column)
    return state
