# SPDX-License-Identifier: Apache-2.0
"""convoy's models in PyTorch, under the names that convoy's checkpoints use.

The oracle of the tests and the peer of the benchmarks.
"""

from collections import OrderedDict

import torch
import torch.nn as nn


def _sequential(*layers):
    """Layers are (name, module) or a module without parameters."""
    named = OrderedDict()
    for number, layer in enumerate(layers):
        name, module = layer if isinstance(layer, tuple) else (f"layer{number}", layer)
        named[name] = module
    return nn.Sequential(named)


def lenet5(classes=10, dropout=True):
    return _sequential(
        ("conv1", nn.Conv2d(1, 6, 5, padding=2)), nn.ReLU(), nn.MaxPool2d(2),
        ("conv2", nn.Conv2d(6, 16, 5)), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        ("fc1", nn.Linear(400, 120)), nn.ReLU(),
        ("fc2", nn.Linear(120, 84)), nn.ReLU(),
        ("fc3", nn.Linear(84, classes)))


def cnn1(classes=10, dropout=True):
    return _sequential(
        ("conv1", nn.Conv2d(1, 32, 3)), nn.ReLU(),
        ("conv2", nn.Conv2d(32, 64, 3)), nn.MaxPool2d(2),
        nn.Dropout(0.25 if dropout else 0.0), nn.Flatten(),
        ("fc1", nn.Linear(9216, 128)), nn.ReLU(), nn.Dropout(0.5 if dropout else 0.0),
        ("fc2", nn.Linear(128, classes)))


def mlp6(classes=10, dropout=True):
    widths = [3072, 1024, 512, 256, 128, 64, 32]
    layers = [nn.Flatten()]
    for number, (src, dst) in enumerate(zip(widths, widths[1:]), start=1):
        layers += [(f"fc{number}", nn.Linear(src, dst)), nn.ReLU()]
    return _sequential(*layers, (f"fc{len(widths)}", nn.Linear(widths[-1], classes)))


class Vgg11(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers, source = [], 3
        for width in [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"]:
            if width == "M":
                layers.append(nn.MaxPool2d(2))
                continue
            layers += [nn.Conv2d(source, width, 3, padding=1), nn.BatchNorm2d(width),
                       nn.ReLU(inplace=True)]
            source = width
        self.layers = nn.Sequential(*layers)
        self.fc1 = nn.Linear(512, classes)

    def forward(self, x):
        return self.fc1(self.layers(x).flatten(1))


def _convolution(source, width, kernel, step=1):
    return nn.Conv2d(source, width, kernel, stride=step, padding=kernel // 2, bias=False)


class _Block(nn.Module):
    """A residual block; `kernels` are those of its convolutions, the step is at `stepping`."""

    def __init__(self, source, widths, kernels, stepping, step):
        super().__init__()
        self.count = len(widths)
        sources = [source, *widths]
        for i, (width, kernel) in enumerate(zip(widths, kernels), start=1):
            own = step if i == stepping else 1
            setattr(self, f"conv{i}", _convolution(sources[i - 1], width, kernel, own))
            setattr(self, f"bn{i}", nn.BatchNorm2d(width))
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if step != 1 or source != widths[-1]:
            self.downsample = nn.Sequential(
                _convolution(source, widths[-1], 1, step), nn.BatchNorm2d(widths[-1]))

    def forward(self, x):
        out = x
        for i in range(1, self.count + 1):
            out = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(out))
            if i < self.count:
                out = self.relu(out)
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """Residual networks under torchvision's names."""

    def __init__(self, blocks, bottleneck, small_images, classes):
        super().__init__()
        self.conv1 = _convolution(3, 64, 3) if small_images else _convolution(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity() if small_images else nn.MaxPool2d(3, 2, 1)
        source = 64
        for group, count in enumerate(blocks):
            width, row = 64 << group, []
            for i in range(count):
                step = 2 if group > 0 and i == 0 else 1
                if bottleneck:
                    row.append(_Block(source, [width, width, 4 * width], [1, 3, 1], 2, step))
                else:
                    row.append(_Block(source, [width, width], [3, 3], 1, step))
                source = 4 * width if bottleneck else width
            setattr(self, f"layer{group + 1}", nn.Sequential(*row))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(source, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


class _InvertedBlock(nn.Module):
    def __init__(self, source, width, expansion, step):
        super().__init__()
        inner = source * expansion
        layers = [] if expansion == 1 else [_clipped(source, inner, 1)]
        layers += [_clipped(inner, inner, 3, step, groups=inner),
                   nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width)]
        self.conv = nn.Sequential(*layers)
        self.residual = step == 1 and source == width

    def forward(self, x):
        return x + self.conv(x) if self.residual else self.conv(x)


def _clipped(source, width, kernel, step=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(source, width, kernel, step, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(width), nn.ReLU6(inplace=True))


class MobileNetV2(nn.Module):
    """Of width 1.0, under torchvision's names."""

    def __init__(self, classes, dropout):
        super().__init__()
        layers, source = [_clipped(3, 32, 3, 2)], 32
        for expansion, width, count, step in [
                (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                (6, 160, 3, 2), (6, 320, 1, 1)]:
            for i in range(count):
                layers.append(_InvertedBlock(source, width, expansion, step if i == 0 else 1))
                source = width
        self.features = nn.Sequential(*layers, _clipped(source, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def _normed(source, width, kernel, act, step=1, groups=1):
    layers = [nn.Conv2d(source, width, kernel, step, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(width, eps=0.001, momentum=0.01)]
    return nn.Sequential(*layers, *([act()] if act else []))


class _SqueezeExcitation(nn.Module):
    def __init__(self, width, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(width, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, width, 1)

    def forward(self, x):
        gate = self.fc2(nn.functional.relu(self.fc1(x.mean((2, 3), keepdim=True))))
        return x * nn.functional.hardsigmoid(gate)


class _V3Block(nn.Module):
    def __init__(self, source, kernel, inner, width, squeezed, act, step):
        super().__init__()
        layers = [] if inner == source else [_normed(source, inner, 1, act)]
        layers.append(_normed(inner, inner, kernel, act, step, groups=inner))
        if squeezed:
            layers.append(_SqueezeExcitation(inner, squeezed))
        self.block = nn.Sequential(*layers, _normed(inner, width, 1, None))
        self.residual = step == 1 and source == width

    def forward(self, x):
        return x + self.block(x) if self.residual else self.block(x)


class MobileNetV3Small(nn.Module):
    """Under torchvision's names."""

    def __init__(self, classes, dropout):
        super().__init__()
        layers, source = [_normed(3, 16, 3, nn.Hardswish, 2)], 16
        for kernel, inner, width, squeezed, act, step in [
                (3, 16, 16, 8, nn.ReLU, 2), (3, 72, 24, 0, nn.ReLU, 2),
                (3, 88, 24, 0, nn.ReLU, 1), (5, 96, 40, 24, nn.Hardswish, 2),
                (5, 240, 40, 64, nn.Hardswish, 1), (5, 240, 40, 64, nn.Hardswish, 1),
                (5, 120, 48, 32, nn.Hardswish, 1), (5, 144, 48, 40, nn.Hardswish, 1),
                (5, 288, 96, 72, nn.Hardswish, 2), (5, 576, 96, 144, nn.Hardswish, 1),
                (5, 576, 96, 144, nn.Hardswish, 1)]:
            layers.append(_V3Block(source, kernel, inner, width, squeezed, act, step))
            source = width
        self.features = nn.Sequential(*layers, _normed(source, 576, 1, nn.Hardswish))
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(),
                                        nn.Dropout(dropout), nn.Linear(1024, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def cnn2(classes=10, dropout=True):
    return _sequential(
        ("conv1", nn.Conv2d(3, 32, 3, padding=1)), nn.ReLU(), nn.MaxPool2d(2),
        ("conv2", nn.Conv2d(32, 64, 3, padding=1)), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(0.25 if dropout else 0.0), nn.Flatten(),
        ("fc1", nn.Linear(4096, 512)), nn.ReLU(), nn.Dropout(0.5 if dropout else 0.0),
        ("fc2", nn.Linear(512, classes)))


class FastNet(nn.Module):
    def __init__(self, classes, widths):
        super().__init__()

        def convolution(source, width, pool):
            layers = OrderedDict(conv=nn.Conv2d(source, width, 3, padding=1, bias=False))
            if pool:
                layers["pool"] = nn.MaxPool2d(2)
            layers["norm"] = nn.BatchNorm2d(width)
            layers["gelu"] = nn.GELU()
            return nn.Sequential(layers)

        self.stem = convolution(3, 32, False)
        source = 32
        for group, width in enumerate(widths, start=1):
            pair = [convolution(source, width, True), convolution(width, width, False)]
            setattr(self, f"group{group}", nn.Sequential(*pair))
            source = width
        self.fc = nn.Linear(source, classes)

    def forward(self, x):
        x = self.group3(self.group2(self.group1(self.stem(x))))
        return self.fc(x.mean((2, 3)))


class _Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).reshape(
            batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if hasattr(nn.functional, "scaled_dot_product_attention"):  # since PyTorch 2
            out = nn.functional.scaled_dot_product_attention(query, key, value)
        else:
            scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
            out = scores.softmax(-1) @ value
        return self.proj(out.transpose(1, 2).reshape(batch, tokens, width))


class _VitBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = _Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(OrderedDict(
            fc1=nn.Linear(width, 4 * width), act=nn.GELU(), fc2=nn.Linear(4 * width, width)))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    """Vision transformers under timm's names."""

    def __init__(self, image, patch, width, depth, heads, classes):
        super().__init__()
        self.patch_embed = nn.Sequential(OrderedDict(proj=nn.Conv2d(3, width, patch, patch)))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*[_VitBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)
        for name, parameter in self.named_parameters():  # patch_embed as PyTorch draws it
            if "patch_embed" in name or "norm" in name:
                continue
            nn.init.normal_(parameter, std=1e-6 if name == "cls_token" else 0.02)
            if name.endswith(".bias"):
                nn.init.zeros_(parameter)

    def named_parameters(self, *args, **kwargs):
        """In the order of use, as convoy lays them out."""
        embedding = ("patch_embed", "cls_token", "pos_embed")
        everything = dict(super().named_parameters(*args, **kwargs))
        first = [name for start in embedding for name in everything if name.startswith(start)]
        for name in first + [name for name in everything if name not in first]:
            yield name, everything[name]

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def _vit(patch, width, depth, heads, usual_image):
    def make(classes=10, dropout=True, image=usual_image):
        return VisionTransformer(image, patch, width, depth, heads, classes)
    return make


def fastnet(classes=10, dropout=True):
    return FastNet(classes, [64, 256, 256])


def fastnet_small(classes=10, dropout=True):
    return FastNet(classes, [64, 128, 256])


def vgg11(classes=10, dropout=True):
    return Vgg11(classes)


def resnet18_cifar(classes=10, dropout=True):
    return ResNet([2, 2, 2, 2], bottleneck=False, small_images=True, classes=classes)


def resnet18(classes=10, dropout=True):
    return ResNet([2, 2, 2, 2], bottleneck=False, small_images=False, classes=classes)


def resnet50(classes=10, dropout=True):
    return ResNet([3, 4, 6, 3], bottleneck=True, small_images=False, classes=classes)


def mobilenet_v2(classes=10, dropout=True):
    return MobileNetV2(classes, 0.2 if dropout else 0.0)


def mobilenet_v3_small(classes=10, dropout=True):
    return MobileNetV3Small(classes, 0.2 if dropout else 0.0)


MODELS = {"lenet5": lenet5, "cnn1": cnn1, "cnn2": cnn2, "mlp6": mlp6, "vgg11": vgg11,
          "fastnet": fastnet, "fastnet_small": fastnet_small,
          "resnet18_cifar": resnet18_cifar, "resnet18": resnet18, "resnet50": resnet50,
          "mobilenet_v2": mobilenet_v2, "mobilenet_v3_small": mobilenet_v3_small,
          "vit_cifar": _vit(4, 128, 6, 4, 32), "vit_ti_16": _vit(16, 192, 12, 3, 224),
          "vit_s_16": _vit(16, 384, 12, 6, 224), "vit_b_16": _vit(16, 768, 12, 12, 224),
          "vit_b_32": _vit(32, 768, 12, 12, 224)}
# Of the usual images.
INPUTS = {"lenet5": (1, 28, 28), "cnn1": (1, 28, 28), "cnn2": (3, 32, 32),
          "mlp6": (3, 32, 32), "vgg11": (3, 32, 32), "fastnet": (3, 32, 32),
          "fastnet_small": (3, 32, 32),
          "resnet18_cifar": (3, 32, 32),
          "resnet18": (3, 224, 224), "resnet50": (3, 224, 224),
          "mobilenet_v2": (3, 224, 224), "mobilenet_v3_small": (3, 224, 224),
          "vit_cifar": (3, 32, 32),
          "vit_ti_16": (3, 224, 224), "vit_s_16": (3, 224, 224), "vit_b_16": (3, 224, 224),
          "vit_b_32": (3, 224, 224)}


def make_model(name, image=None, **options):
    """A model for square images of that size, which a transformer has to know."""
    extent = {"image": image} if image and name.startswith("vit") else {}
    return MODELS[name](**extent, **options)
