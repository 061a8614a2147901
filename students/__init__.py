"""Students: the small models whose prompts are optimized, and the local server that runs one of them."""
