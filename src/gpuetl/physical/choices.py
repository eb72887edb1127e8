"""Ways to lower a plan that move fewer rows, or take fewer tasks; each may be left out by name, as a pass may."""

CHOICES = {
    "carry_windows": "A window over partitions in its order takes rows along from one to the next, and exchanges none.",
    "keys_apart": "Rows whose equal keys are in one partition, as footers tell, are not exchanged.",
    "gather_groups": "Groups of which few are expected meet in one partition, without an exchange by key.",
    "fetch_pieces": "Workers fetch the pieces of large exchanges from each other; no piece is a task of its own.",
}
"""A sentence for each choice."""
