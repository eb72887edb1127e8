"""The types of the language, which are Arrow's, and schemas of named columns."""
