"""Files: row groups read into frames, and Parquet files written from device memory."""
