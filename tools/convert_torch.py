#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Converts weights of PyTorch to a safetensors file, for convoy's model.init.

  convert_torch.py FILE.pth|FILE.bin OUT.safetensors

FILE is a state dict as torch.save() writes it, or a dictionary that has one under "state_dict" or "model". The
tensors keep their names, without the prefix "module." of DataParallel, and become fp32; batch counters are left out.
The file is read without running code from it (weights_only), and anything but tensors is refused.
"""

import argparse
import json
import os
import pathlib
import struct
import sys

import torch

WRAPPERS = ("state_dict", "model")
PREFIX = "module."
COUNTER = "num_batches_tracked"


class Refused(Exception):
    """What is wrong with the file, for people."""


def load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise Refused(f"{path}: there is no such file") from error
    except Exception as error:  # pickle's and zip's errors have no common base
        reason = (str(error).split("WeightsUnpickler error: ")[-1].splitlines() or ["unreadable"])[0]
        raise Refused(f"{path}: no file of weights alone as torch.save() writes it ({reason})") from error


def unwrapped(content):
    """The state dict, without the dictionaries around it."""
    while isinstance(content, dict):
        inner = [content[name] for name in WRAPPERS if isinstance(content.get(name), dict)]
        if not inner:
            return content
        content = inner[0]
    raise Refused(f"found {type(content).__name__}, expected a dictionary of tensors")


def plain_name(name):
    while name.startswith(PREFIX):
        name = name[len(PREFIX):]
    return name


def tensors_of(state):
    """Names and fp32 tensors, in the order of the file."""
    tensors = {}
    for key, value in state.items():
        if not isinstance(key, str) or not isinstance(value, torch.Tensor):
            raise Refused(f"{key!r} is a {type(value).__name__}, expected a tensor with a name")
        name = plain_name(key)
        if name.split(".")[-1] == COUNTER:
            continue
        if value.is_complex() or value.is_sparse or value.is_quantized:
            raise Refused(f"{key} is complex, sparse or quantized, expected plain numbers")
        if name in tensors:
            raise Refused(f"{name} is in the file twice, with and without {PREFIX!r}")
        tensors[name] = value.detach().to(torch.float32).contiguous()
    if not tensors:
        raise Refused("no tensors")
    return tensors


def write_safetensors(path, tensors):
    """Writes a file that is complete under its name or absent."""
    header, end = {}, 0
    for name, tensor in tensors.items():
        begin, end = end, end + 4 * tensor.numel()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(partial, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            for tensor in tensors.values():
                out.write(tensor.numpy().astype("<f4").tobytes())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    given = parser.parse_args()
    try:
        tensors = tensors_of(unwrapped(load(given.file)))
        write_safetensors(given.out, tensors)
    except (Refused, OSError) as error:
        print(f"convert_torch.py: {error}", file=sys.stderr)
        return 1
    print(f"{given.out}: {len(tensors)} tensors, {sum(t.numel() for t in tensors.values()):,} numbers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
