"""``python -m scripts.docs`` writes the generated pages."""

from .pages import write

if __name__ == "__main__":
    write()
