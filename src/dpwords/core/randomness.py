"""The only place where random bits come from.

A *source* opens streams, and a *stream* provides bits. Every call that draws opens a stream of its own, so no generator
is ever shared between threads or inherited by a forked process.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from dpwords.core.tuning import FEW_BYTES
from dpwords.errors import InvalidValue

_COUNTING = threading.Lock()


class Stream(ABC):
    """An endless sequence of uniform, independent bytes, for one or more items that are drawn.

    All items share one stream, unless the draws are keyed (`dpwords.core.keyed`): then `of` and `repeated` tell which
    items the next bytes are for, and `take` gives each of these items an equal part, one behind the other.
    """

    shared = True  # whether all items share one stream

    @abstractmethod
    def take(self, count: int) -> bytes | memoryview:
        """The next `count` bytes."""

    def of(self, items: Any) -> Stream:
        """The stream of some of the items, given by their numbers in ascending order, or as a slice."""
        return self

    def repeated(self, times: NDArray[np.int64]) -> Stream:
        """The stream of items that each of these items consists of: so many for each."""
        return self

    def one(self, item: int) -> Stream:
        """The stream of one item, as a plain sequence of bytes, whatever they are used for."""
        return self


class Source(Protocol):
    """Opens a new stream for each call that draws."""

    def open(self) -> Stream: ...


class CipherStream(Stream):
    """The key stream of AES-256 in counter mode; each key is used for one stream only."""

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def take(self, count: int) -> bytes:
        return self._encryptor.update(bytes(count))


class SystemStream(Stream):
    """Small requests are served by the operating system, larger ones by a cipher that it keys for this stream."""

    def __init__(self) -> None:
        self._cipher: CipherStream | None = None

    def take(self, count: int) -> bytes:
        if self._cipher is None:
            if count <= FEW_BYTES:
                return os.urandom(count)
            self._cipher = CipherStream(os.urandom(32))
        return self._cipher.take(count)


class SystemSource:
    """Streams of fresh bits from the operating system."""

    def open(self) -> Stream:
        return SystemStream()


class SeededSource:
    """The same streams in the same order for the same seed: for tests and studies, never for private data."""

    def __init__(self, seed: int | str) -> None:
        if not isinstance(seed, (Integral, str)):
            raise InvalidValue("a seed is a whole number or a text")
        self._seed = repr(seed if isinstance(seed, str) else int(seed)).encode()
        self._calls = 0

    def open(self) -> Stream:
        with _COUNTING:
            call, self._calls = self._calls, self._calls + 1
        return CipherStream(hashlib.sha256(self._seed + b"/%d" % call).digest())


def uint64(stream: Stream, shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """An array of independent uniform 64-bit integers, to be read only."""
    count = math.prod(shape)
    return np.frombuffer(stream.take(8 * count), dtype="<u8").astype(np.uint64, copy=False).reshape(shape)


def integer(stream: Stream, bits: int) -> int:
    """A uniform integer of `bits` bits, a multiple of 8."""
    return int.from_bytes(stream.take(bits // 8), "big")
