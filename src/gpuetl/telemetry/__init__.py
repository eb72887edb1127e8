"""What a run records of itself: work and its origin, spans of a trace, memory in use, bytes over links."""
