"""The report of a run as one HTML page, with no scripts and nothing from elsewhere: a module for each section."""
