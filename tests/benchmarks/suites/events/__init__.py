"""Events of users, as a shop's or an app's: the questions that measurements.md began with, and a whole pipeline."""
