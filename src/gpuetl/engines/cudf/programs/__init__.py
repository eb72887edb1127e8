"""The programs of whole plans: what a plan compiles, listed ahead of its run, and what a wheel ships."""
