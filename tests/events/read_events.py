#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the event files of a folder and prints what they hold, one JSON object an event.

    read_events.py FOLDER

Written from the format's public description alone: it shares no code, no table and no
message definition with what writes the files. Every length and every checksum is checked.
A file may end in the middle of a record, as after a kill: that is printed as
{"file": ..., "cut_off": bytes}. Anything else that is wrong ends the program with code 1.
"""
import json
import os
import struct
import sys


def crc32c(data):
    """Bit by bit, as the polynomial is defined."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            low = register & 1
            register >>= 1
            if low:
                register ^= 0x82F63B78
    return register ^ 0xFFFFFFFF


def masked(crc):
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def checked(data, crc, where):
    if masked(crc32c(data)) != crc:
        raise ValueError(f"{where}: the checksum is wrong")
    return data


def records(path):
    """Yields every whole record, and at the end the number of bytes that follow."""
    with open(path, "rb") as file:
        content = file.read()
    position = 0
    while len(content) - position >= 12:
        where = f"{path}, byte {position}"
        length_bytes, crc = struct.unpack_from("<8sI", content, position)
        (length,) = struct.unpack("<Q", checked(length_bytes, crc, where))
        if len(content) - position < 16 + length:
            break
        data, crc = struct.unpack_from(f"<{length}sI", content, position + 12)
        yield checked(data, crc, where)
        position += 16 + length
    yield len(content) - position


# ---- protobuf's wire format: number and type of a field, then its value


def varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def fields(data):
    """{number: [raw values]}: whole numbers, or bytes."""
    found, position = {}, 0
    while position < len(data):
        key, position = varint(data, position)
        kind = key & 7
        if kind == 0:
            value, position = varint(data, position)
        else:
            if kind == 2:
                size, position = varint(data, position)
            else:
                size = {1: 8, 5: 4}[kind]
            value = data[position : position + size]
            if len(value) != size:
                raise ValueError("a message ends in the middle of a field")
            position += size
        found.setdefault(key >> 3, []).append(value)
    return found


class Message:
    """A message's fields, by number."""

    def __init__(self, data):
        self.fields = fields(data)

    def raw(self, number, default):
        return self.fields.get(number, [default])[-1]

    def has(self, number):
        return number in self.fields

    def int(self, number):
        value = self.raw(number, 0)
        return value - (1 << 64) if value >= 1 << 63 else value

    def float(self, number):
        return struct.unpack("<f", self.raw(number, bytes(4)))[0]

    def double(self, number):
        return struct.unpack("<d", self.raw(number, bytes(8)))[0]

    def text(self, number):
        return self.raw(number, b"").decode("utf-8")

    def texts(self, number):
        return [value.decode("utf-8") for value in self.fields.get(number, [])]

    def doubles(self, number):
        packed = self.raw(number, b"")
        return list(struct.unpack(f"<{len(packed) // 8}d", packed))

    def message(self, number):
        return Message(self.raw(number, b""))

    def messages(self, number):
        return [Message(value) for value in self.fields.get(number, [])]


# ---- what the messages mean


def shape(message):
    return [size.int(1) for size in message.messages(2)]


def histogram(message):
    return {
        "min": message.double(1),
        "max": message.double(2),
        "num": message.double(3),
        "sum": message.double(4),
        "sum_squares": message.double(5),
        "limits": message.doubles(6),
        "counts": message.doubles(7),
    }


def attribute(message):
    if message.has(1):
        return [shape(each) for each in message.message(1).messages(7)]
    if message.has(2):
        return message.text(2)
    if message.has(6):
        return message.int(6)
    return shape(message.message(7))


def node(message):
    attributes = {each.text(1): attribute(each.message(2)) for each in message.messages(5)}
    return {
        "name": message.text(1),
        "op": message.text(2),
        "inputs": message.texts(3),
        "attributes": attributes,
    }


def hparam(message):
    if message.has(2):
        return message.double(2)
    if message.has(3):
        return message.text(3)
    return bool(message.int(4))


def hparams(message):
    if message.has(2):
        experiment = message.message(2)
        return {
            "columns": {info.text(1): info.int(4) for info in experiment.messages(4)},
            "metrics": [info.message(1).text(2) for info in experiment.messages(5)],
        }
    if message.has(3):
        start = message.message(3)
        values = {each.text(1): hparam(each.message(2)) for each in start.messages(1)}
        return {"hparams": values, "start": start.double(5)}
    end = message.message(4)
    return {"status": end.int(1), "end": end.double(2)}


def value(message):
    result = {"tag": message.text(1)}
    if message.has(2):
        result["scalar"] = message.float(2)
    if message.has(5):
        result["histogram"] = histogram(message.message(5))
    if message.has(8):
        tensor = message.message(8)
        result["tensor"] = {
            "type": tensor.int(1),
            "shape": shape(tensor.message(2)),
            "texts": tensor.texts(8),
        }
    if message.has(9):
        plugin = message.message(9).message(1)
        result["plugin"] = plugin.text(1)
        if result["plugin"] == "hparams":
            result["content"] = hparams(plugin.message(2))
    return result


def event(message):
    result = {"wall_time": message.double(1), "step": message.int(2)}
    if message.has(3):
        result["file_version"] = message.text(3)
    if message.has(4):
        graph = message.message(4)
        result["graph"] = [node(each) for each in graph.messages(1)]
        result["producer"] = graph.message(4).int(1)
    if message.has(5):
        result["values"] = [value(each) for each in message.message(5).messages(1)]
    if message.has(7):
        result["session"] = message.message(7).int(1)
    return result


def main(folder):
    names = sorted(name for name in os.listdir(folder) if "tfevents" in name)
    for name in names:
        *whole, rest = records(os.path.join(folder, name))
        for data in whole:
            print(json.dumps({"file": name, **event(Message(data))}))
        if rest > 0:
            print(json.dumps({"file": name, "cut_off": rest}))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except ValueError as problem:
        sys.exit(str(problem))
