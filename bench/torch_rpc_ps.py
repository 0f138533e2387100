#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the parameter server's benchmark: an asynchronous server over RPC.

  bench/torch_rpc_ps.py [--form model] [--workers 2] [--batch 32] [--seconds 10]

As PyTorch's tutorials write it: the server holds model and optimizer behind a lock; each
trainer computes the gradients of a batch and calls the server once, which makes an update of
them and answers with the parameters. Over TensorPipe, every process with one thread, LeNet-5
on generated images of Fashion-MNIST's shape that are already in memory, SGD with momentum.

As the tutorial has it, the answer is the model itself (--form model). Tuned as its users
would: gradients and parameters travel as one list of tensors a call, and
are not copied on the way (--form list); or everything is in one flat tensor, which the
optimizer takes in one go (--form flat). TensorPipe's usual transport on one machine is shared
memory whose threads spin; --transport tcp leaves the cores to those who compute.

Prints {"updates_per_second": ...} as JSON.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import threading
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is there to read it
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch  # noqa: E402
import torch.distributed.rpc as rpc  # noqa: E402
import torch.multiprocessing as multiprocessing  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from torch_models import INPUTS, MODELS  # noqa: E402

MODEL = "lenet5"
BATCHES = 64  # that a trainer has in memory
TRANSPORTS = {"usual": None, "tcp": ["uv"]}


def make_network():
    torch.manual_seed(0)
    return MODELS[MODEL]().train()


def flatten(network):
    """Parameters and gradients of the network become views of two flat tensors."""
    parameters = list(network.parameters())
    flat = torch.cat([p.data.reshape(-1) for p in parameters])
    gradient = torch.zeros_like(flat)
    begin = 0
    for parameter in parameters:
        part = slice(begin, begin + parameter.numel())
        parameter.data = flat[part].view_as(parameter)
        parameter.grad = gradient[part].view_as(parameter)
        begin = part.stop
    return flat, gradient


class Server:
    """Values and optimizer; one update at a time."""

    def __init__(self, form, rate, momentum):
        network = make_network()
        if form == "flat":
            self.parameters = [torch.nn.Parameter(flatten(network)[0])]
        else:
            self.parameters = list(network.parameters())
        self.answer = network if form == "model" else [p.data for p in self.parameters]
        self.optimizer = torch.optim.SGD(self.parameters, lr=rate, momentum=momentum)
        self.lock = threading.Lock()
        self.updates = 0
        self.is_over = False

    def update(self, gradients):
        with self.lock:
            for parameter, gradient in zip(self.parameters, gradients):
                parameter.grad = gradient
            self.optimizer.step()
            self.updates += 1
        return None if self.is_over else self.answer


SERVER = None


def update(gradients):
    """Called by trainers, run by the server. None: the measurement is over."""
    return SERVER.update(gradients)


def train(form, rank, batch):
    network = make_network()
    flat, gradient = flatten(network) if form == "flat" else (None, None)
    parameters = list(network.parameters())
    loss_function = torch.nn.CrossEntropyLoss()
    torch.manual_seed(rank)
    images = torch.rand(BATCHES, batch, *INPUTS[MODEL]) * 2 - 1
    labels = torch.randint(10, (BATCHES, batch))
    number = 0
    while True:
        if form == "flat":
            gradient.zero_()
        else:
            network.zero_grad(set_to_none=True)
        loss_function(network(images[number % BATCHES]), labels[number % BATCHES]).backward()
        pushed = [gradient] if form == "flat" else [p.grad for p in parameters]
        fetched = rpc.rpc_sync("server", update, args=(pushed,))
        if fetched is None:
            return
        if form == "flat":
            flat.copy_(fetched[0])
        elif form == "model":
            network, parameters = fetched, list(fetched.parameters())
        else:
            for parameter, value in zip(parameters, fetched):
                parameter.data = value
        number += 1


def join(name, rank, options, store):
    torch.set_num_threads(1)
    backend = rpc.TensorPipeRpcBackendOptions(num_worker_threads=max(4, options.workers),
                                              init_method=f"file://{store}",
                                              _transports=TRANSPORTS[options.transport])
    rpc.init_rpc(name, rank=rank, world_size=options.workers + 1,
                 rpc_backend_options=backend)


def run_trainer(index, options, store):
    join(f"trainer{index}", index + 1, options, store)
    train(options.form, index + 1, options.batch)
    rpc.shutdown()


def measure(options):
    """Updates in `seconds` after as many have been made as warm up."""
    while SERVER.updates < options.warm_up:
        time.sleep(0.01)
    first, begin = SERVER.updates, time.perf_counter()
    time.sleep(options.seconds)
    updates, seconds = SERVER.updates - first, time.perf_counter() - begin
    SERVER.is_over = True
    return {"updates_per_second": updates / seconds, "updates": updates, "seconds": seconds,
            "form": options.form, "transport": options.transport, "workers": options.workers, "torch": torch.__version__}


def run(options):
    global SERVER
    SERVER = Server(options.form, options.lr, options.momentum)
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/store"
        trainers = multiprocessing.spawn(run_trainer, args=(options, store),
                                         nprocs=options.workers, join=False)
        join("server", 0, options, store)
        result = measure(options)
        rpc.shutdown()
        trainers.join()
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--form", choices=("model", "list", "flat"), default="model")
    parser.add_argument("--transport", choices=tuple(TRANSPORTS), default="usual")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.005)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warm-up", type=int, default=200, help="updates before the clock runs")
    return parser.parse_args()


if __name__ == "__main__":
    print(json.dumps(run(parse_arguments())), flush=True)
