"""Images, sounds and other files that tools and models give: shown where the terminal can, else kept."""
