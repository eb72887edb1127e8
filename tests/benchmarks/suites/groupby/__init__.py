"""The group-by questions of the database-like ops benchmark (github.com/h2oai/db-benchmark), on G1_1e8_1e2_5_0."""
