# SPDX-License-Identifier: Apache-2.0
"""A program that leaves a loader in the way it is told, and looks whether anything is left.

``test_leaving.py`` runs it with the words WAY METHOD WORKERS BYTES PLACE.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker

import numpy as onp

import afterglow as mx
from afterglow.gluon import data

#: What happens in the fifth sample, by the way of leaving.
TROUBLE = {
    "worker_killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "worker_exits": lambda: os._exit(0),
    "sample_raises": lambda: 1 // 0,
    "sample_raises_strangely": lambda: strange(),
    "sample_exits": lambda: sys.exit("from the sample"),
    "sample_hangs": lambda: time.sleep(1000),
    "left_in_a_sample": lambda: time.sleep(1000),
    "killed_in_a_sample": lambda: time.sleep(1000),
    "interrupted_in_a_sample": lambda: time.sleep(1000),
}


def strange():
    class StrangeError(Exception):
        pass

    raise StrangeError("that cannot travel")


class Samples(data.Dataset):
    def __init__(self, way, size, nested=False):
        self._way, self._size, self._nested = way, size, nested

    def __len__(self):
        return 8 if self._way == "all" else 10**9

    def __getitem__(self, index):
        if index == 5 and self._way in TROUBLE:
            TROUBLE[self._way]()
        if self._nested and index % 4 == 0:
            for batch in data.DataLoader(Samples("", self._size), 2, num_workers=1):
                assert batch.asnumpy()[1, 0] == 1
                break
        return onp.full(self._size // 2, index % 256, "uint8")


class BoomError(Exception):
    pass


def descriptors():
    found = []
    for one in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # that of the listing itself
            found.append(os.readlink(f"/proc/self/fd/{one}"))
    return sorted(found)


def children():
    """Return our processes, but for those that multiprocessing keeps for itself."""
    own = {resource_tracker._resource_tracker._pid, forkserver._forkserver._forkserver_pid}
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                suppress(FileNotFoundError, ProcessLookupError),
                open(f"/proc/{name}/stat") as file,
            ):
                state, parent = file.read().rpartition(")")[2].split()[:2]
                if int(parent) in own | {os.getpid()} and int(name) not in own:
                    found.append((int(name), state))
    return found


def state():
    return [one.name for one in threading.enumerate()], descriptors(), children()


def leave(way, loader):
    """Leave a loader; returns only if the program goes on after that."""
    batches = iter(loader)
    if way == "closed":
        next(batches)
        batches.close()
    elif way == "forgotten":
        next(batches)
    elif way == "kept":
        next(batches)
        leave.kept = batches
    elif way == "never_begun":
        leave.kept = batches
    elif way == "fork":
        next(batches)
        forked(batches)
        next(batches)
    elif way == "killed_in_a_sample":
        next(batches)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        for number, batch in enumerate(batches):
            assert batch.asnumpy()[1, 0] == (2 * number + 1) % 256
            if number == 1:
                print("ready", flush=True)
            in_loop(way, number)
            if way in ("break", "left_in_a_sample") and number == 1:
                break
            if way == "return" and number == 1:
                return


def in_loop(way, number):
    if number < 1:
        return
    if way == "exit":
        sys.exit(3)
    if way == "exception":
        raise BoomError("in the loop")
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "interrupted_by_itself":
        signal.raise_signal(signal.SIGINT)


def forked(batches):
    """Fork in the middle: the child cannot go on with the iterator, and ends as programs do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: of other threads
        child = os.fork()
    if child == 0:
        try:
            next(batches)
        except mx.MXNetError as error:
            sys.exit(0 if "its fork" in str(error) else 8)
        os._exit(9)
    assert os.waitpid(child, 0)[1] == 0


#: What a way of leaving raises, in the thread that iterates.
RAISED = {
    "worker_killed": (mx.MXNetError, "worker process of the DataLoader died"),
    "worker_exits": (mx.MXNetError, "worker process of the DataLoader died"),
    "sample_raises": (ZeroDivisionError, "lambda: 1 // 0"),
    "sample_raises_strangely": (mx.MXNetError, "StrangeError: that cannot travel"),
    "sample_exits": (SystemExit, "from the sample"),
    "sample_hangs": (mx.MXNetError, "within"),
}


def main():
    way, method, workers, size, place = sys.argv[1:]
    multiprocessing.set_start_method(method)
    if method == "spawn":
        resource_tracker.ensure_running()
    elif method == "forkserver":
        # While it starts, Ctrl-C ends the server that forks: wait until it has served.
        first = multiprocessing.Process(target=os.getpid)
        first.start()
        first.join()
        first.close()
    mx.nd.ones(3).asnumpy()
    gc.collect()
    before = state()

    def loader(way):
        samples = Samples(way, int(size), place == "nested")
        timeout = 1 if way == "sample_hangs" else 60
        return data.DataLoader(samples, 2, num_workers=int(workers), timeout=timeout)

    def begin():
        kind, text = RAISED.get(way, ((), ""))
        said = ""
        try:
            leave(way, loader(way))
        except kind as error:
            said = f"{error}{error.__cause__}"
        assert text in said, said

    def work():
        if place == "two":
            other = iter(loader("break"))
            next(other)
            begin()
            next(other)
        else:
            begin()

    if way == "interrupted_while_starting":
        print("ready", flush=True)
    if place == "thread":
        failed = []
        thread = threading.Thread(target=kept(work, failed), daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)  # a signal just before a longer wait would not end it
        if failed:
            raise failed[0]
    else:
        work()

    if way in ("kept", "never_begun"):
        return
    deadline = time.monotonic() + 10
    while (after := state()) != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert after == before, f"left behind: {after}, but before: {before}"


def kept(function, failed):
    def run():
        try:
            function()
        except BaseException as error:
            failed.append(error)

    return run


if __name__ == "__main__":
    main()
