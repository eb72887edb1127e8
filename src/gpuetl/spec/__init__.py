"""Pipelines as written: YAML text with places, the model that YAML and Python both build, and its binding to a plan.

document.py  →  read.py with fields.py and steps/  →  model.py  →  bind.py with binding/ and steps/  →  plan
"""
