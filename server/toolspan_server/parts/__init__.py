"""The interfaces that kinds, sources, services, steps and resource contents implement."""
