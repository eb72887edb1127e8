"""Local clusters are closed to other users of the machine."""

import asyncio
import os
import secrets
import subprocess
import sys

import pytest

from command import environment_without_coverage
from gpuetl.executors.dask.access import CONNECTS, LISTENS, RunKey, accept_keys, proof, prove
from gpuetl.executors.dask.cluster import open_client
from gpuetl.options import Cluster

distributed = pytest.importorskip("distributed")
ATTACK = """
import asyncio, logging, os, sys
from distributed import LocalCluster
from distributed.core import rpc
from distributed.protocol.pickle import dumps

async def attacked(address):
    async with rpc(address) as remote:
        run = remote.run_function if address == sys.argv[1] else remote.run
        return await asyncio.wait_for(run(function=dumps(os.getuid), args=dumps(()), kwargs=dumps({})), 5)

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    targets = sys.argv[2:]
    pages = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=0, processes=False, host="127.0.0.1", protocol="tcp", scheduler_kwargs=pages) as mine:
        sys.argv[1] = mine.scheduler_address
        asyncio.run(attacked(mine.scheduler_address))  # all modules are imported while this user may read them
        os.setgid(65534)
        os.setuid(65534)
        print(os.getuid(), asyncio.run(attacked(mine.scheduler_address))["result"])  # this is how it goes without a key
        sys.argv[1] = targets[0]
        for address in targets:
            try:
                print(asyncio.run(attacked(address)))
            except (OSError, ValueError, TimeoutError) as error:
                print("refused")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
def test_another_user_cannot_use_the_scheduler_the_workers_or_the_nannies_of_a_run(tmp_path):
    """The same attack runs code in a cluster that has no key."""
    (tmp_path / "attack.py").write_text(ATTACK)
    with open_client("dask", Cluster(workers=1)) as client:
        info = client.scheduler_info()["workers"]
        addresses = [client.scheduler.address, *info, *(worker["nanny"] for worker in info.values())]
        attack = [sys.executable, tmp_path / "attack.py", "", *addresses]
        environment = environment_without_coverage()
        done = subprocess.run(attack, capture_output=True, text=True, timeout=120, check=False, env=environment)
        assert client.submit(sum, [1, 2]).result() == 3
    assert len(addresses) == 3
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["65534 65534", "refused", "refused", "refused"]


def test_a_client_without_the_key_is_refused_and_one_with_another_key_too():
    """In one process, which also has connections without keys."""
    accept_keys("tcp")
    pages = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    options = {"n_workers": 0, "processes": False, "host": "127.0.0.1", "protocol": "tcp", "scheduler_kwargs": pages}
    key = RunKey()
    with distributed.LocalCluster(security=key, **options) as kept, distributed.LocalCluster(**options) as free:
        with distributed.Client(kept.scheduler_address, security=key, set_as_default=False) as client:
            assert client.run_on_scheduler(os.getpid) == os.getpid()
        with distributed.Client(free.scheduler_address, set_as_default=False) as client:
            assert client.run_on_scheduler(os.getpid) == os.getpid()
        for wrong in (RunKey(), distributed.Security()):
            with pytest.raises((OSError, ValueError)):
                distributed.Client(kept.scheduler_address, security=wrong, timeout=1, set_as_default=False)


class Pipe:
    """One end of a connection in this process."""

    def __init__(self, out, into):
        self.stream = self
        self.out, self.into, self.aborted = out, into, False

    async def write(self, data):
        await self.out.put(data)

    async def read_bytes(self, count):
        data = await self.into.get()
        assert len(data) == count
        return data

    def abort(self):
        self.aborted = True


async def both(first, second):
    """Return whether both ends were content; each is a key, a port and an end."""
    to, back = asyncio.Queue(), asyncio.Queue()
    ends = Pipe(to, back), Pipe(back, to)
    answers = await asyncio.gather(*map(prove, ends, *zip(first, second, strict=True)), return_exceptions=True)
    assert [end.aborted for end in ends] == [answer is not None for answer in answers]
    return [answer is None for answer in answers]


KEY = secrets.token_bytes(32)


@pytest.mark.parametrize(
    ("first", "second", "content"),
    [
        ((KEY, 1, CONNECTS), (KEY, 1, LISTENS), True),
        ((KEY, 1, CONNECTS), (secrets.token_bytes(32), 1, LISTENS), False),
        ((KEY, 1, CONNECTS), (KEY, 2, LISTENS), False),
        ((KEY, 1, CONNECTS), (KEY, 1, CONNECTS), False),
    ],
    ids=["the same key", "another key", "passed on from another port", "sent back"],
)
def test_both_ends_prove_the_key_for_their_connection(first, second, content):
    assert asyncio.run(both(first, second)) == [content, content]


def test_a_proof_is_for_one_end_one_port_and_two_random_numbers():
    given = (KEY, CONNECTS, 1, b"a" * 32, b"b" * 32)
    others = [(KEY, LISTENS, *given[2:]), (*given[:2], 2, *given[3:]), (*given[:3], given[4], given[3])]
    assert len({proof(*one) for one in (given, *others)}) == 4


def test_what_dask_prints_of_a_key_is_nothing():
    key = RunKey()
    assert repr(key) == "Security()"
    assert key.run_key.hex() not in key._repr_html_()
