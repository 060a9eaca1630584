"""From config files to one Config, or to every problem in them at once."""
