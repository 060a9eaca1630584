"""Code that several formats share, in folders by subject. Nothing here imports a format."""
