from __future__ import annotations

import os

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dpwords.core.randomness import CipherStream, SeededSource, Stream, SystemSource, integer, uint64


def test_the_stream_is_aes_in_counter_mode() -> None:
    key = bytes(range(32))
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    blocks = b"".join(encryptor.update(counter.to_bytes(16, "big")) for counter in range(4))
    stream = CipherStream(key)
    assert stream.take(5) + stream.take(59) == blocks


def test_system_streams_take_all_bits_from_the_operating_system_or_a_cipher_keyed_by_it() -> None:
    asked: list[int] = []
    real = os.urandom

    def spy(count: int) -> bytes:
        asked.append(count)
        return real(count)

    os.urandom = spy
    try:
        one, two = SystemSource().open(), SystemSource().open()
        assert one.take(64) != two.take(64)
        assert asked == [64, 64]
        assert one.take(10_000) != two.take(10_000)
        assert one.take(16) != two.take(16)
    finally:
        os.urandom = real
    assert asked == [64, 64, 32, 32]


def test_seeds_repeat_and_differ_by_call_and_by_seed() -> None:
    a, b, c = SeededSource(1), SeededSource(1), SeededSource("1")
    first = a.open().take(32)
    assert first == SeededSource(np.int64(1)).open().take(32)  # type: ignore[arg-type]
    assert first == b.open().take(32)
    assert first != a.open().take(32)
    assert first != c.open().take(32)


def test_integers_use_every_bit_once_in_order() -> None:
    class Counting(Stream):
        def take(self, count: int) -> bytes:
            return bytes(range(count))

    assert uint64(Counting(), (2,)).tolist() == [0x0706050403020100, 0x0F0E0D0C0B0A0908]
    assert uint64(Counting(), (2, 3)).dtype == np.uint64
    assert integer(Counting(), 32) == 0x00010203
