"""Keyed draws: the same key, id, mechanism and word give the same draw, anything else independent randomness."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from contract import check_counts
from dpwords.core.keyed import Ids, Key, distinct
from dpwords.core.limits import Limits
from dpwords.core.symbols import Ragged

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


# --- the streams against a plain implementation ---------------------------------------------------------------------


def derived(key: bytes, purpose: str) -> bytes:
    return hmac.new(key, purpose.encode(), hashlib.sha256).digest()


def aes(key: bytes, block: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def cbc_mac(key: bytes, message: bytes) -> bytes:
    """The last block of the CBC encryption of a message that is filled up with zeros."""
    padded = message + bytes(-len(message) % 16)
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    return encryptor.update(padded)[-16:]


def number(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


def plain_tag(key: bytes, one: Any) -> bytes:
    kind, content = (
        (0, number(one)) if isinstance(one, int) else (1, one.encode()) if isinstance(one, str) else (2, one)
    )
    body = hashlib.sha256(content).digest() if len(content) > 256 else content
    return cbc_mac(derived(key, "ids"), number(kind) + number(len(content)) + body)


def plain_stream(key: bytes, parameters: str, one: Any, word: bytes, blocks: int) -> bytes:
    body = hashlib.sha256(word).digest() if len(word) > 256 else word
    message = number(len(word)) + number(1) + plain_tag(key, one) + body
    seed = cbc_mac(derived(key, f"seeds {parameters}"), message)
    high, low = seed[:8], int.from_bytes(seed[8:], "little")
    counters = (high + ((low + i) % 2**64).to_bytes(8, "little") for i in range(blocks))
    return b"".join(aes(derived(key, f"bits {parameters}"), counter) for counter in counters)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 100, 256, 257, 1000])
def test_streams_equal_a_plain_implementation(length: int) -> None:
    ids = [0, -1, 2**63 - 1, "", "a", "é" * 7, "x" * 16, "y" * 300, b"a", b"\x00" * 40]
    words = np.random.default_rng(length).integers(0, 7, (len(ids), length)).astype(np.uint8)
    key = Key(KEY)
    streams = key.streams("p", key.id_tags(Ids.of(ids)), words)
    expected = [plain_stream(KEY, "p", one, word.tobytes(), 9) for one, word in zip(ids, words, strict=True)]
    first = bytes(streams.take(len(ids) * 33))  # 33 bytes for each: three blocks
    assert [first[33 * i : 33 * i + 33] for i in range(len(ids))] == [row[:33] for row in expected]
    some = streams.of(np.array([2, 5, 5, 9]))
    assert np.frombuffer(some.take(4 * 8), dtype=np.uint8).reshape(4, 8).tolist() == [
        list(expected[2][48:56]),
        list(expected[5][48:56]),
        list(expected[5][56:64]),
        list(expected[9][48:56]),
    ]
    assert bytes(streams.one(5).take(5)) == expected[5][64:69]
    each = streams.repeated(np.array([0, 0, 2, 0, 1, 0, 0, 0, 0, 0]))
    assert bytes(each.take(3)) == expected[2][64:66] + expected[4][48:49]
    assert bytes(each.of(np.array([1, 2])).take(2)) == expected[2][80:81] + expected[4][64:65]
    assert bytes(streams.of(slice(4, 5)).take(3)) == expected[4][80:83]


@pytest.mark.parametrize("size", [1, 3, 8])
def test_rows_with_different_numbers_of_items(size: int) -> None:
    """Each item gets bytes of its own, the next ones of its row's stream."""
    key, words = Key(KEY), np.zeros((3, 4), dtype=np.uint8)
    streams = key.streams("p", key.id_tags(Ids.of(["a", "b", "c"])), words)
    expected = [plain_stream(KEY, "p", one, bytes(4), 9) for one in "abc"]
    items = streams.repeated(np.array([5, 0, 2]))
    assert bytes(items.take(7 * size)) == expected[0][: 5 * size] + expected[2][: 2 * size]


@pytest.mark.parametrize("length", [255, 256, 257])
def test_long_ids_are_hashed_beyond_256_bytes(length: int) -> None:
    ids = ["x" * length, b"y" * length, "z" * 16]
    assert Key(KEY).id_tags(Ids.of(ids)).tobytes() == b"".join(plain_tag(KEY, one) for one in ids)


def test_the_plain_mac_is_the_standard_one() -> None:
    """CMAC (NIST SP 800-38B) of a whole number of blocks is the CBC-MAC whose last block is masked by a subkey."""
    message = bytes(range(48))
    twice = int.from_bytes(aes(KEY, bytes(16)), "big") << 1
    subkey = (twice ^ 0x87 if twice >> 128 else twice) % 2**128
    standard = CMAC(algorithms.AES(KEY))
    standard.update(message)
    last = (int.from_bytes(message[32:], "big") ^ subkey).to_bytes(16, "big")
    assert cbc_mac(KEY, message[:32] + last) == standard.finalize()


@given(st.lists(st.one_of(st.text(), st.binary(), st.integers(-(2**63), 2**63 - 1)), max_size=12))
def test_tags_differ_exactly_where_ids_do(ids: list[Any]) -> None:
    tags = Key(KEY).id_tags(Ids.of(ids))
    assert tags.tobytes() == b"".join(
        plain_tag(KEY, one) if not _odd(one) else t.tobytes() for one, t in zip(ids, tags, strict=True)
    )
    kinds = [(type(one), one) for one in ids]
    assert distinct(tags) == (len(set(kinds)) == len(kinds))


def _odd(one: Any) -> bool:
    return isinstance(one, str) and any("\ud800" <= c <= "\udfff" for c in one)


def test_arrays_of_whole_numbers_are_the_same_ids() -> None:
    key, numbers = Key(KEY), [3, -7, 0, 2**40]
    for array in (np.array(numbers), numbers, tuple(numbers), [np.int64(n) for n in numbers], iter(numbers)):
        assert (key.id_tags(Ids.of(array)) == key.id_tags(Ids.numbers(np.array(numbers)))).all()
    texts = Ids.texts(Ragged(np.frombuffer(b"abbccc", dtype=np.uint8), np.array([1, 3, 6])))
    assert (key.id_tags(texts) == key.id_tags(Ids.of(["a", "bb", "ccc"]))).all()


# --- what a draw depends on -----------------------------------------------------------------------------------------


def drawn(mechanism: Any = None, word: str = "a" * 40, one: Any = "ann", key: bytes = KEY) -> str:
    mechanism = mechanism or dw.Exponential(dw.Words(LETTERS), 3.0)
    (released,) = mechanism.release_all([word], [one], key)
    return str(released)


def test_a_draw_depends_on_key_id_mechanism_and_word() -> None:
    """40 letters at ε = 3: two independent draws are equal with probability below 1e-15."""
    other_rate = dw.Exponential(dw.Words(LETTERS), 3.0, calibration="textbook")
    shuffled = dw.Exponential(dw.Words(LETTERS[1:] + "a"), 3.0)
    more = dw.Exponential(dw.Words(LETTERS + "A"), 3.0)
    by_edits = dw.EditChannel(LETTERS, 6.0)
    found = [
        drawn(),
        drawn(key=OTHER),
        drawn(one="bob"),
        drawn(one=b"ann"),
        drawn(dw.Exponential(dw.Words(LETTERS), 3.0000001)),
        drawn(dw.Exponential(dw.Words(LETTERS), 3.0, k=2)),
        drawn(other_rate),
        drawn(shuffled),
        drawn(more),
        drawn(dw.Online(dw.Words(LETTERS), 3.0)),
        drawn(by_edits),
        drawn(by_edits.like(epsilon=6.0000001)),
        drawn(dw.EditChannel(LETTERS, 6.0, onto=dw.Words(LETTERS, max_length=400))),
        drawn(dw.EditChannel(LETTERS, 6.0, onto=dw.Words(LETTERS, max_length=500))),
    ]
    assert len(set(found)) == len(found)
    assert drawn() == drawn() == found[0]


def test_a_reused_id_never_puts_the_same_noise_on_another_word() -> None:
    """Noise is where a letter changed, and by how much; 400 positions at ε = 1 (10 letters of 26 kept in 100)."""
    mechanism = dw.Exponential(dw.Words(LETTERS), 1.0)
    one, other = "a" * 400, "a" * 399 + "b"
    noise = [[ord(b) - ord(a) for a, b in zip(w, drawn(mechanism, w), strict=True)] for w in (one, other)]
    equal = sum(a == b for a, b in zip(*noise, strict=True))
    assert equal < 80  # independent noise agrees in 400 · (0.098² + 25 · 0.036²) = 17 places on average


def test_independent_ids_have_independent_noise() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), math.log(3))  # kept with probability 3/4
    words = mechanism.release_all(["a"] * 20_000, range(20_000), KEY)
    pairs = Counter(zip(words[::2], words[1::2], strict=True))
    check_counts(pairs, {(a, b): (3 if a == "a" else 1) * (3 if b == "a" else 1) / 16 for a in "ab" for b in "ab"})


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
@pytest.mark.parametrize("symbols", [2, 26, 70, 300])
def test_every_branch_of_free_words_follows_the_law(epsilon: float, symbols: int) -> None:
    """Few or many symbols, frequent or rare replacements; words of 40 symbols, one of which is looked at."""
    mechanism = dw.Exponential(dw.Words(range(symbols)), epsilon)
    rows = np.full((5000, 40), symbols - 1)
    out = np.asarray(mechanism.release_codes(rows, np.arange(5000), KEY))
    odds = (symbols - 1) * math.exp(-epsilon)
    changed = Counter((out != rows).sum(axis=1).tolist())
    proportion = odds / (1 + odds)
    check_counts(changed, {d: math.comb(40, d) * proportion**d * (1 - proportion) ** (40 - d) for d in range(41)})
    others = Counter(out[out != rows].tolist())
    check_counts(others, dict.fromkeys(range(symbols - 1), 1 / (symbols - 1)))


# --- how words are batched does not matter --------------------------------------------------------------------------


def test_compiled_and_array_draws_are_the_same() -> None:
    """From 2^24 symbols on, draws use the compiler."""
    rows = np.random.default_rng(1).integers(0, 26, (2**19, 32)).astype(np.uint8)
    for epsilon in (3.0, 9.0):
        mechanism = dw.Exponential(dw.Words(LETTERS), epsilon)
        many = np.asarray(mechanism.release_codes(rows, np.arange(2**19), KEY))
        last = np.asarray(mechanism.release_codes(rows[-3000:], np.arange(2**19 - 3000, 2**19), KEY))
        assert (many[-3000:] == last).all()
        first = np.asarray(mechanism.release_codes(rows[:3000].astype(np.int64), np.arange(3000), KEY))
        assert (many[:3000] == first).all()


@pytest.mark.parametrize("piece", [64, 1000])
def test_long_words_are_drawn_in_their_own_parts(piece: int) -> None:
    limits = Limits(batch=4 * piece, piece=piece)
    texts = ["a" * length for length in (1, 10, 63, 64, 65, 100, 129, 1000, 1001)] * 2
    for mechanism in (dw.Exponential(dw.Words("abc"), 2.0, limits=limits), dw.EditChannel("abc", 3.0, limits=limits)):
        together = mechanism.release_all(texts, range(len(texts)), KEY)
        for index in (0, 4, 7, 8, 17):
            assert mechanism.release_all(texts[index : index + 1], [index], KEY) == [together[index]]


@pytest.mark.parametrize("kind", [dw.Exponential, dw.Online])
def test_threads_do_not_matter(kind: Any) -> None:
    grid = dw.GridWorld(6, 6).by_states()
    words = [grid_word for length in (3, 9) for grid_word in _runs(grid, length, 60)]
    found = [
        kind(grid, 2.0, limits=Limits(threads=threads)).release_all(words, range(len(words)), KEY)
        for threads in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]


def _runs(language: Any, length: int, count: int) -> list[list[Any]]:
    mechanism = dw.Exponential(language, 0.001, calibration="textbook").seeded(1)
    one: list[Any] = []
    state = language.initial
    for _ in range(length):
        symbol, state = next(iter(language.follow(state)))
        one.append(symbol)
    return mechanism.simulate(one, count)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "key", "message"),
    [
        (None, b"short", "a key must be 32 bytes"),
        (None, "0" * 32, "a key must be 32 bytes"),
        (None, bytearray(32), "a key must be 32 bytes"),
        (["x", "x"], KEY, "same id"),
        (["x", "x"], None, "same id"),
        ([1, 1], KEY, "same id"),
        (np.array([4, 4]), KEY, "same id"),
        (["x"], KEY, "2 words and 1 ids"),
        (["x", "y", "z"], KEY, "2 words and 3 ids"),
        ("xy", KEY, "ids must be a list"),
        (7, KEY, "ids must be a list"),
        ([True, False], KEY, "an id must be"),
        ([1.5, 2.5], KEY, "an id must be"),
        ([None, "x"], KEY, "an id must be"),
        ([2**63, 1], KEY, "an id must be"),
        (np.array([2**63, 1], dtype=np.uint64), KEY, "an id must be"),
        (np.array([1.5, 2.5]), KEY, "an id must be"),
        (np.array([[1], [2]]), KEY, "an id must be"),
    ],
)
def test_bad_ids_and_keys(ids: Any, key: Any, message: str) -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    with pytest.raises(dw.InvalidValue, match=message):
        mechanism.release_all(["ab", "ba"], ids, key)
    with pytest.raises(dw.InvalidValue, match=message):
        mechanism.release_codes(np.zeros((2, 3), dtype=int), ids, key)


def test_no_words_at_all() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    assert mechanism.release_all([], [], KEY) == []
    assert mechanism.release_all([]) == []
    assert len(mechanism.release_codes(Ragged.of([]), [], KEY)) == 0


def test_a_key_is_not_shown() -> None:
    assert "1f" not in repr(Key(KEY))
    assert repr(Key(KEY)) == "Key(…)"


def test_ragged_words_are_checked() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    with pytest.raises(dw.NotInLanguage):
        mechanism.release_codes(Ragged(np.array([0, 1, 2]), np.array([1, 3])), [1, 2], KEY)
    with pytest.raises(dw.InvalidValue, match="the empty word"):
        mechanism.release_codes(Ragged(np.array([0, 1]), np.array([0, 2])), [1, 2], KEY)
    out = mechanism.release_codes(Ragged(np.array([0, 1, 1, 0, 1]), np.array([2, 3, 5])))
    assert out.sizes.tolist() == [2, 1, 2]
