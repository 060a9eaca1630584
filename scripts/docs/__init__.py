"""The documentation's generated pages and its site.

``python -m scripts.docs`` writes the pages that ``pages.PAGES`` names.
``python -m scripts.docs.site`` builds the site from ``docs/`` and ``zensical.toml``.
"""
