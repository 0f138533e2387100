# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST for PyTorch: one image at a time as torchvision reads it, or all in a tensor."""

import gzip
import pathlib

import numpy
import torch

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


def read_idx(name, head):
    with gzip.open(DATA / f"{name}.gz") as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=head)


def read_images(half):
    return read_idx(f"{half}-images-idx3-ubyte", 16).reshape(-1, 28, 28)


def read_labels(half):
    return torch.from_numpy(read_idx(f"{half}-labels-idx1-ubyte", 8).astype(numpy.int64))


def moments():
    """One mean and one deviation of all pixels of the training set."""
    training = read_images("train").astype(numpy.float64) / 255
    return training.mean(), training.std()


def normalized(half):
    """All images as one tensor."""
    mean, deviation = moments()
    return ((torch.from_numpy(read_images(half).copy()).float() / 255 - mean) / deviation)[:, None]


class PerSample(torch.utils.data.Dataset):
    """torchvision's FashionMNIST with ToTensor and Normalize."""

    def __init__(self, half):
        mean, deviation = moments()
        self.images, self.labels = torch.from_numpy(read_images(half).copy()), read_labels(half)
        self.mean, self.deviation = torch.tensor([mean]), torch.tensor([deviation])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        from PIL import Image
        image = Image.fromarray(self.images[index].numpy(), mode="L")
        tensor = torch.from_numpy(numpy.array(image, numpy.uint8, copy=True))
        tensor = tensor.view(28, 28, 1).permute(2, 0, 1).contiguous().float().div(255)
        tensor.sub_(self.mean[:, None, None]).div_(self.deviation[:, None, None])
        return tensor, int(self.labels[index])
