"""Random substitutions in free words, symbol by symbol."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def replace(codes: Array, bits: Array, others: Array, edge: int, symbols: int, unsure: Array) -> None:
    """Replace, in place, each symbol whose byte of `bits` is above `edge` by the one that its byte of `others` chooses.

    Byte o chooses number o mod (symbols − 1) among the other symbols. The largest values of o, which would favour some
    symbols, and bytes equal to `edge` do not decide: such positions are flagged in `unsure` and left to the caller. The
    iterations are independent, so the compiler can vectorise the loop. Cost: the number of symbols.
    """
    rest = np.int32(symbols - 1)
    even, inverse, limit = np.int32(256 - 256 % rest), np.int32(65536 // rest + 1), np.int32(edge)
    for i in range(len(codes)):
        code, byte, other = np.int32(codes[i]), np.int32(bits[i]), np.int32(others[i])
        late, fair = byte > limit, other < even
        other -= rest * ((other * inverse) >> np.int32(16))  # the remainder, for numbers below 256
        other += other >= code
        unsure[i] = (byte == limit) | (late & (not fair))
        codes[i] = other if late & fair else code
