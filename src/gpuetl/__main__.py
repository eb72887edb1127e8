"""`python -m gpuetl`: the command `gpuetl`, where it is not on the path."""

from gpuetl.cli.ending import run_and_end

if __name__ == "__main__":  # workers that are started import the module again
    run_and_end()
