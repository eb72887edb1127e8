"""Work in threads, also in processes that are forked from one that has them."""

import os
import signal

import pytest

from gpuetl.threads import in_threads


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    """It would wait for ever for those of the process that it is forked from."""
    assert in_threads(abs, range(-8, 0)) == list(range(8, 0, -1))
    forked = os.fork()
    if forked == 0:
        signal.alarm(10)
        os._exit(0 if in_threads(abs, range(-8, 0)) == list(range(8, 0, -1)) else 1)
    assert os.waitpid(forked, 0)[1] == 0
