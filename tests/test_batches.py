"""Results in batches: PyTorch's datasets and XGBoost's matrices; JAX's arrays."""

import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, PackageMissing, Pipeline
from gpuetl.errors import EvaluationError
from torch_stand_in import torch_for_tests

ROWS = pa.table(
    {"i": pa.array(range(10), pa.int32()), "x": np.arange(10) / 4, "y": np.arange(10) % 2 == 0}
)  # fmt: skip


@pytest.fixture(params=["stand-in", "torch"])
def torch(request, monkeypatch):
    """PyTorch where it is installed, and a stand-in for what is used of it."""
    return torch_for_tests(request.param, monkeypatch)


def result(rows=ROWS, engine="pandas"):
    """Return rows as a result of a run."""
    pipeline = Pipeline("frames")
    pipeline.from_frame("t", rows)
    return pipeline.run(engine=engine, keep=["t"])["t"]


def as_lists(batch):
    """Return a batch with lists for tensors."""
    return {name: tensor.tolist() for name, tensor in batch.items()}


@pytest.mark.usefixtures("torch")
def test_batches_have_their_rows_but_for_the_last():
    dataset = result().torch_dataset(batch_rows=4)
    assert len(dataset) == 3
    batches = [as_lists(batch) for batch in dataset]
    assert [len(batch["i"]) for batch in batches] == [4, 4, 2]
    assert {name: [x for batch in batches for x in batch[name]] for name in ROWS.schema.names} == ROWS.to_pydict()
    assert [len(batch["i"]) for batch in result().torch_dataset(batch_rows=10)] == [10]
    assert [*result(ROWS.slice(0, 0)).torch_dataset(batch_rows=4)] == []


@pytest.mark.usefixtures("torch")
def test_features_and_labels_come_in_pairs():
    batches = [*result().torch_dataset(batch_rows=6, label="y", features=["x", "i"], matrix=True)]
    (features, label), _ = batches
    assert str(features.dtype).endswith("float32")
    assert features.tolist() == [[i / 4, i] for i in range(6)]
    assert label.tolist() == [True, False] * 3
    (features, label), _ = result().torch_dataset(batch_rows=6, label="y")
    assert list(features) == ["i", "x"]


@pytest.mark.usefixtures("torch")
def test_each_epoch_shuffles_rows_in_another_way():
    dataset, again = (result().torch_dataset(batch_rows=4, shuffle=True, seed=7) for _ in range(2))
    epochs = [[as_lists(batch) for batch in dataset] for _ in range(2)]
    orders = [[i for batch in epoch for i in batch["i"]] for epoch in epochs]
    assert [sorted(order) for order in orders] == [[*range(10)]] * 2
    assert orders[0] != orders[1] != [*range(10)]
    assert all(x == i / 4 for epoch in epochs for batch in epoch for i, x in zip(batch["i"], batch["x"], strict=True))
    assert [as_lists(batch) for batch in again] == epochs[0]


def test_a_loader_shares_batches_among_its_workers():
    data = pytest.importorskip("torch.utils.data")
    loader = data.DataLoader(result().torch_dataset(batch_rows=3, features=["i"]), batch_size=None, num_workers=2)
    assert sorted(i for batch in loader for i in batch["i"].tolist()) == [*range(10)]


class XgboostStandIn:
    """What is used of XGBoost: a matrix goes over the batches twice."""

    class DataIter:
        """Where batches come from."""

    class QuantileDMatrix:
        """The batches that it was given."""

        def __init__(self, batches, **options):
            self.options, self.passes = options, []
            for _ in range(2):
                batches.reset()
                self.passes.append(given := [])
                while batches.next(lambda given=given, **columns: given.append(columns)):
                    pass


def test_a_quantile_matrix_is_given_batches(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", XgboostStandIn)
    made = result().to_quantile_dmatrix("y", features=["x"], weight="i", batch_rows=4, max_bin=16)
    assert made.options == {"max_bin": 16}
    for given in made.passes:
        assert [len(batch["data"]) for batch in given] == [4, 4, 2]
        assert [x for batch in given for x in batch["data"]["x"]] == ROWS.column("x").to_pylist()
        assert given[2]["label"].tolist() == [True, False]
        assert given[2]["weight"].tolist() == [8, 9]


def test_xgboost_learns_from_a_result():
    xgboost = pytest.importorskip("xgboost")
    rows = ROWS.append_column("n", pa.array([None, *range(9)], pa.int64()))
    matrix = result(rows).to_quantile_dmatrix("y", batch_rows=4)
    assert (matrix.num_row(), matrix.feature_names) == (10, ["i", "x", "n"])
    assert matrix.get_label().tolist() == [1.0, 0.0] * 5
    assert matrix.num_nonmissing() == 29
    assert len(xgboost.train({"max_depth": 2}, matrix, 2).get_dump()) == 2


def test_wrong_calls_of_batches_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", XgboostStandIn)
    texts = pa.table({"k": ["a", "b"], "x": [1, None], "y": [0, 1]})
    for call, kind, message in [
        (lambda: result().torch_dataset(batch_rows=0), InvalidPipeline, "batch_rows takes a whole number from 1, got 0"),
        (lambda: result().to_quantile_dmatrix("z"), InvalidPipeline, "unknown column 'z'"),
        (lambda: result().to_quantile_dmatrix("y", features=[]), InvalidPipeline, "no column beside the label"),
        (lambda: result(ROWS.slice(0, 0)).to_quantile_dmatrix("y"), EvaluationError, "there are no rows"),
        (lambda: result(texts).to_quantile_dmatrix("y"), EvaluationError, "column 'k' is string"),
        (lambda: result(texts.select(["x", "y"])).to_quantile_dmatrix("x"), EvaluationError, "column 'x' has 1 nulls"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=message):
            call()
    for package, call in {
        "torch": lambda: result().torch_dataset(),
        "xgboost": lambda: result().to_quantile_dmatrix("y"),
        "jax": lambda: result().to_jax(),
    }.items():
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(PackageMissing, match=f"needs the package {package}"):
            call()


def test_jax_is_not_given_what_it_would_cut(monkeypatch):
    """Without its option, JAX makes 0 of 2^32."""
    config = SimpleNamespace(jax_enable_x64=False)
    stand_in = SimpleNamespace(config=config, dlpack=SimpleNamespace(from_dlpack=np.from_dlpack))
    monkeypatch.setitem(sys.modules, "jax", stand_in)
    assert list(result(ROWS.select(["i", "y"])).to_jax()) == ["i", "y"]
    with pytest.raises(EvaluationError, match="float64, and JAX would cut it"):
        result().to_jax()
    config.jax_enable_x64 = True
    assert result().to_jax()["x"].tolist() == ROWS.column("x").to_pylist()


def test_jax_takes_64_bits_where_it_may():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        arrays = result().to_jax()
        assert [str(array.dtype) for array in arrays.values()] == ["int32", "float64", "bool"]
        assert arrays["x"].tolist() == ROWS.column("x").to_pylist()
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.gpu
def test_batches_lie_on_the_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    made = result(engine="cudf")
    batches = [*made.torch_dataset(batch_rows=4, label="y", matrix=True, shuffle=True)]
    assert [features.device.type for features, _ in batches] == ["cuda"] * 3
    assert sorted(i for features, _ in batches for i in features[:, 0].tolist()) == [*range(10)]


@pytest.mark.gpu
def test_a_matrix_is_filled_from_the_gpu():
    pytest.importorskip("xgboost")
    matrix = result(engine="cudf").to_quantile_dmatrix("y", batch_rows=4)
    assert (matrix.num_row(), matrix.num_col()) == (10, 2)


@pytest.mark.gpu
def test_arrays_of_jax_lie_on_the_gpu():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX without CUDA")
    assert result(ROWS.select(["i", "y"]), "cudf").to_jax()["i"].tolist() == [*range(10)]
