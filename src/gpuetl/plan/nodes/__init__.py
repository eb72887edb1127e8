"""The logical operations, a file each.  A backend has a handler for every one of NODES."""

from gpuetl.plan.nodes.aggregate import Aggregate
from gpuetl.plan.nodes.asof_join import AsofJoin
from gpuetl.plan.nodes.condition_join import ConditionJoin
from gpuetl.plan.nodes.distinct import Distinct
from gpuetl.plan.nodes.explode import Explode
from gpuetl.plan.nodes.filter import Filter, NewRows
from gpuetl.plan.nodes.insert_rows import InsertRows
from gpuetl.plan.nodes.join import Join
from gpuetl.plan.nodes.kernel import Kernel, KernelReduction, PythonKernel
from gpuetl.plan.nodes.kernel_table import KernelTable
from gpuetl.plan.nodes.project import Project, passing
from gpuetl.plan.nodes.read import Read
from gpuetl.plan.nodes.scalar_join import ScalarJoin
from gpuetl.plan.nodes.sort import Limit, Sort
from gpuetl.plan.nodes.union import StateUnion, Union
from gpuetl.plan.nodes.vocabularies import Vocabularies, VocabularyLookups, VocabularyPart
from gpuetl.plan.nodes.vocabulary import Vocabulary, VocabularyLookup
from gpuetl.plan.nodes.window import STATE, Grouped, GroupWindow, KeptWindow, LateRows, Window
from gpuetl.plan.nodes.write import Write

NODES = (
    Read, Filter, Project, Join, AsofJoin, Aggregate, Window, GroupWindow, Kernel, KernelReduction, KernelTable,
    PythonKernel, Sort,
    Limit, Distinct, Union, Explode, InsertRows, Vocabulary, Write,
)  # fmt: skip
TOGETHER = (Vocabularies, VocabularyPart, VocabularyLookups)
"""What lowering makes of several nodes for engines on GPUs, which alone have handlers for it."""

__all__ = [
    "NODES",
    "STATE",
    "TOGETHER",
    "Aggregate",
    "AsofJoin",
    "ConditionJoin",
    "Distinct",
    "Explode",
    "Filter",
    "GroupWindow",
    "Grouped",
    "InsertRows",
    "Join",
    "KeptWindow",
    "Kernel",
    "KernelReduction",
    "KernelTable",
    "LateRows",
    "Limit",
    "NewRows",
    "Project",
    "PythonKernel",
    "Read",
    "ScalarJoin",
    "Sort",
    "StateUnion",
    "Union",
    "Vocabularies",
    "Vocabulary",
    "VocabularyLookup",
    "VocabularyLookups",
    "VocabularyPart",
    "Window",
    "Write",
    "passing",
]  # fmt: skip
