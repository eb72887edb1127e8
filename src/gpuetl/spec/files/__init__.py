"""The files that a pipeline is made of: those that it includes, defaults, profiles, values of parameters, `.env`."""
