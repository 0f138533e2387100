# SPDX-License-Identifier: Apache-2.0
"""Nodes on one machine: network namespaces that a bridge joins.

  with nodes_of(3, "1gbit") as prefixes:      one (words before a command, flags after it) per node

Namespaces need the right to make them. Without it, the nodes are processes of this machine that
meet on its loopback, and the page says so.
"""

import contextlib
import functools
import os
import secrets
import subprocess

TOKEN = {"CONVOY_TOKEN": secrets.token_hex(16)}
NAME = f"convoy-nodes-{os.getpid()}"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
PORT = "29531"


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True, env={"PATH": PATH})


def add_node(number, rate):
    host, switch = f"{NAME}-{number}", f"{NAME}-switch"
    run("ip", "netns", "add", host)
    run("ip", "link", "add", "cable", "netns", host, "type", "veth", "peer", "name",
        f"port{number}", "netns", switch)
    run("ip", "-n", switch, "link", "set", f"port{number}", "master", "bridge", "up")
    run("ip", "-n", host, "link", "set", "lo", "up")
    run("ip", "-n", host, "address", "add", f"10.78.0.{number + 1}/24", "dev", "cable")
    run("ip", "-n", host, "link", "set", "cable", "up")
    if rate:
        run("ip", "netns", "exec", host, "tc", "qdisc", "add", "dev", "cable", "root", "tbf",
            "rate", rate, "burst", "256kb", "latency", "50ms")


def make(count, rate):
    run("ip", "netns", "add", f"{NAME}-switch")
    run("ip", "-n", f"{NAME}-switch", "link", "add", "bridge", "type", "bridge")
    run("ip", "-n", f"{NAME}-switch", "link", "set", "bridge", "up")
    for number in range(count):
        add_node(number, rate)


def remove(count):
    for host in [*range(count), "switch"]:
        subprocess.run(["ip", "netns", "delete", f"{NAME}-{host}"], capture_output=True,
                       env={"PATH": PATH})


def flags(count, number, address):
    return ["--nnodes", str(count), "--node-rank", str(number), "--master-addr", address,
            "--master-port", PORT]


@functools.cache
def can_make():
    """Whether this user may make namespaces."""
    try:
        run("ip", "netns", "add", f"{NAME}-probe")
        run("ip", "netns", "delete", f"{NAME}-probe")
        return True
    except (OSError, subprocess.CalledProcessError):
        return False


def where():
    """What the nodes of a study are, for its page."""
    if can_make():
        return "network namespaces that a bridge joins"
    return ("processes that meet on the loopback, because this user may not make network "
            "namespaces; links have no limit")


@contextlib.contextmanager
def nodes_of(count, rate=None):
    if count < 2:
        yield [([], [])]
    elif not can_make():
        yield [([], flags(count, number, "127.0.0.1")) for number in range(count)]
    else:
        try:
            make(count, rate)
            yield [(["ip", "netns", "exec", f"{NAME}-{number}"],
                    flags(count, number, "10.78.0.1")) for number in range(count)]
        finally:
            remove(count)
