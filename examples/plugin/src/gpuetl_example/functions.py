"""Functions: expressions over gpuetl's own functions."""

from gpuetl.plugins import MacroFunction

net = MacroFunction("net", "price rate", "price / (1 + rate)", doc="The price without tax.")
weighted_mean = MacroFunction(
    "weighted_mean", "x weight", "sum(x * weight) / sum(weight)", doc="The mean of x, with weights; an aggregate."
)
