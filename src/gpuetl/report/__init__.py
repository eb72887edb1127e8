"""What a run did: rows, seconds and bytes a stage, the sinks written, and what the user should know."""
