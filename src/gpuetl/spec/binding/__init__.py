"""The parts of a plan that a pipeline is bound to: paths, sources, relations by their names, and sinks."""
