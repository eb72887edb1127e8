"""What each link of this machine can carry, measured once and kept on disk: the ceilings of a run's stages."""
