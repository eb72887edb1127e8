"""From sqlglot's tree to written expressions; what the language does not have is refused."""
