"""The engine's choices: known by name, and left out of one run alone."""

import pytest

from gpuetl import InvalidPipeline, RunOptions
from gpuetl.choices import skipping
from gpuetl.engines.cudf.choices import CHOICES, chosen
from gpuetl.optimize import NAMES


def test_a_choice_is_taken_unless_it_is_skipped():
    """Passes of the optimizer may stand among the names."""
    assert all(map(chosen, CHOICES))
    with skipping(["join_by_table", "push_filters"]):
        assert not chosen("join_by_table")
        assert chosen("group_by_table")
    assert chosen("join_by_table")


def test_there_are_no_other_choices():
    """A misspelled one in a handler is an error."""
    with pytest.raises(KeyError):
        chosen("group_by_tables")


def test_no_choice_has_the_name_of_a_pass():
    """One name means one thing."""
    assert not set(CHOICES) & set(NAMES)


def test_options_name_the_choices_to_leave_out():
    """A plan that runs as it was written takes none of them."""
    assert RunOptions().skipped_choices == set()
    assert RunOptions(skip_passes=("join_by_table",)).skipped_choices == {"join_by_table"}
    assert RunOptions(optimize=False).skipped_choices == set(CHOICES)


def test_a_name_that_is_neither_pass_nor_choice_is_refused():
    """The hint has both."""
    with pytest.raises(
        InvalidPipeline, match=r"Passes: fold_expressions, .*, group_by_table, .*Did you mean 'join_by_"
    ):
        RunOptions(skip_passes=("join_by_tabel",))
