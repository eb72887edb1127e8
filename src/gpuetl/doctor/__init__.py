"""What this machine has for the engines, what is wrong with it, and the line that mends each problem.

diagnosis.py   all findings and problems, and which engines can run
gpus.py        GPUs with their memory and links
packages.py    versions, and whether they fit together
settings.py    threads, locked memory, folders
"""
