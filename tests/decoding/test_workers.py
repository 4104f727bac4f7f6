import threading
import time

import pytest
import torch

from clearformer.decoding.workers import side_by_side, single_thread


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers):
    def slow_at_first(item):
        time.sleep(0.02 / (item + 1))
        return item * item

    assert list(side_by_side(slow_at_first, range(7), workers)) == [item * item for item in range(7)]


@pytest.mark.parametrize("items", [[], [3], [3, 4, 5]])
def test_each_item_is_computed_by_one_thread_and_the_caller_keeps_its_own_number(two_threads, items):
    seen = list(side_by_side(lambda item: torch.get_num_threads(), items, 2))
    assert seen == [1] * len(items)
    assert torch.get_num_threads() == 2
    fresh = []
    thread = threading.Thread(target=lambda: fresh.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert fresh == [2]  # neither do threads that others start later find the workers' number


def test_workers_do_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=20)
    assert sorted(side_by_side(lambda item: meeting.wait(), range(2), 2)) == [0, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_reaches_the_caller_and_ends_the_rest(two_threads, workers):
    done = []

    def fail(item):
        if item == 1:
            raise ValueError("item 1 is bad")
        time.sleep(0.01)
        done.append(item)

    with pytest.raises(ValueError, match="item 1 is bad"):
        list(side_by_side(fail, range(100), workers))
    assert len(done) < 50
    assert torch.get_num_threads() == 2


def test_a_single_thread_for_a_while(two_threads):
    with single_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
