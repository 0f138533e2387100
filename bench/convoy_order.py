# SPDX-License-Identifier: Apache-2.0
"""The order of samples that convoy draws: convoy/base/random.h and convoy/loader in Python.

With it PyTorch trains on the same batches.
"""

import numpy

ORDER, SPLIT = 1, 2  # RngStream
MASK = numpy.uint64(0xFFFFFFFF)


def philox(counter, key):
    """Philox 4x32-10 of four arrays of counter words; returns four arrays of random words."""
    words = [numpy.asarray(word, numpy.uint64) for word in counter]
    for step in range(10):
        keys = [(key[0] + step * 0x9E3779B9) & 0xFFFFFFFF, (key[1] + step * 0xBB67AE85) & 0xFFFFFFFF]
        a = numpy.uint64(0xD2511F53) * words[0]
        b = numpy.uint64(0xCD9E8D57) * words[2]
        words = [(b >> numpy.uint64(32)) ^ words[1] ^ numpy.uint64(keys[0]), b & MASK,
                 (a >> numpy.uint64(32)) ^ words[3] ^ numpy.uint64(keys[1]), a & MASK]
    return words


def permutation(count, seed, stream, first=0, second=0):
    """0 .. count-1 in the random order of that stream."""
    left = numpy.arange(count + 1, dtype=numpy.uint64)
    same = numpy.zeros_like(left)
    words = philox((left, same + numpy.uint64(stream << 24), same + numpy.uint64(first),
                    same + numpy.uint64(second)), (seed & 0xFFFFFFFF, seed >> 32))
    order = list(range(count))
    for k in range(count, 1, -1):
        pick = ((int(words[0][k]) << 32 | int(words[1][k])) * k) >> 64
        order[k - 1], order[pick] = order[pick], order[k - 1]
    return numpy.array(order)


def split_anew(sizes, seed):
    """Samples of the training, validation and test set of data.split, numbered through both
    halves of the dataset."""
    order, begin, parts = permutation(sum(sizes), seed, SPLIT, first=1), 0, []
    for size in sizes:
        parts.append(numpy.sort(order[begin:begin + size]))
        begin += size
    return parts


def epoch_order(count, seed, epoch):
    """The order of the training samples in an epoch, counted from 1."""
    return permutation(count, seed, ORDER, first=epoch)
