# SPDX-License-Identifier: Apache-2.0
"""Reads a checkpoint of convoy with PyTorch and compares what both compute from it.

  read_with_torch.py logits CHECKPOINT MODEL IMAGES LOGITS
      IMAGES and LOGITS are little-endian fp32; exits with 1 where PyTorch's logits
      of these (normalised) images differ from those given by more than rounding errors.

  read_with_torch.py write FILE MODEL IMAGES LOGITS
      writes a model of PyTorch's own making, which has seen the 53 IMAGES once, as a
      safetensors file, and its LOGITS of them.

  read_with_torch.py save FILE MODEL IMAGES LOGITS
      the same as a file of torch.save(): a state dict of DataParallel's names, in a dictionary.

  read_with_torch.py save_other FILE - - -
      writes a dictionary of tensors and a number, as a file of torch.save().

  read_with_torch.py evaluate CHECKPOINT MODEL IDX_IMAGES_GZ IDX_LABELS_GZ
      prints {"correct": ..., "total": ...}.

Needs PyTorch and NumPy only: the safetensors header is JSON.
"""

import gzip
import json
import pathlib
import struct
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import torch_models  # noqa: E402

# Absolute, and relative to logits above 1. Rounding errors add up over many layers.
TOLERANCE = 1e-5
DEEP_TOLERANCE = 5e-5


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", entry
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = numpy.frombuffer(content[begin:end], "<f4").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        values = tensor.float().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def made_model(name, images, logits):
    """A model that has seen the images once; writes its logits of them."""
    torch.manual_seed(1)
    pixels = numpy.fromfile(images, "<f4")
    model = torch_models.make_model(name, side_of(name, pixels, 53))
    forward(model, name, pixels, 53)
    forward(model.eval(), name, pixels, 53).numpy().tofile(logits)
    return model


def write(path, name, images, logits):
    write_safetensors(path, made_model(name, images, logits).state_dict())
    return 0


def save(path, name, images, logits):
    state = made_model(name, images, logits).state_dict()
    torch.save({"state_dict": {"module." + key: value for key, value in state.items()},
                "epoch": 3}, path)
    return 0


def save_other(path, *_):
    torch.save({"weight": torch.zeros(2), "epoch": 3}, path)
    return 0


def load_model(checkpoint, name, side):
    model = torch_models.make_model(name, side)
    model.load_state_dict(read_safetensors(checkpoint / "model.safetensors"), strict=True)
    return model.eval()


def side_of(name, images, count):
    """Height and width of square images, of which there are `count`."""
    return round((images.size / count / torch_models.INPUTS[name][0]) ** 0.5)


def forward(model, name, images, count):
    channels, side = torch_models.INPUTS[name][0], side_of(name, images, count)
    batches = torch.from_numpy(images).reshape(count, channels, side, side).split(500)
    with torch.no_grad():
        return torch.cat([model(batch) for batch in batches])


def compare_logits(checkpoint, name, images, logits):
    theirs = numpy.fromfile(logits, "<f4").reshape(-1, 10)
    pixels = numpy.fromfile(images, "<f4")
    model = load_model(checkpoint, name, side_of(name, pixels, len(theirs)))
    ours = forward(model, name, pixels, len(theirs)).numpy()
    worst = (abs(ours - theirs) / numpy.maximum(1, abs(ours))).max()
    print(json.dumps({"samples": len(ours), "worst": float(worst)}))
    norms = (torch.nn.BatchNorm2d, torch.nn.LayerNorm)
    deep = any(isinstance(module, norms) for module in model.modules())
    return 0 if worst <= (DEEP_TOLERANCE if deep else TOLERANCE) else 1


def read_idx(path):
    content = gzip.decompress(pathlib.Path(path).read_bytes())
    dimensions = content[3]
    shape = struct.unpack(f">{dimensions}I", content[4:4 + 4 * dimensions])
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def evaluate(checkpoint, name, images, labels):
    model = load_model(checkpoint, name, torch_models.INPUTS[name][1])
    state = json.loads((checkpoint / "state.json").read_text())["normalization"]
    mean, deviation = (numpy.reshape(state[key], (-1, 1, 1)) for key in ("mean", "deviation"))
    pixels = (read_idx(images)[:, None] / 255 - mean) / deviation
    truth = read_idx(labels)
    logits = forward(model, name, pixels.astype(numpy.float32), len(truth))
    predictions = logits.argmax(1).numpy()
    print(json.dumps({"correct": int((predictions == truth).sum()), "total": len(truth)}))
    return 0


def main():
    torch.set_num_threads(1)
    command, checkpoint, name, first, second = sys.argv[1:]
    act = {"logits": compare_logits, "evaluate": evaluate, "write": write, "save": save,
           "save_other": save_other}[command]
    return act(pathlib.Path(checkpoint), name, first, second)


if __name__ == "__main__":
    sys.exit(main())
