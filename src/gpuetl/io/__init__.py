"""Files of whatever format: how they are listed and opened, and how sinks are staged and committed."""
