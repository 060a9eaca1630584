"""Example Cloud, a provider that there is only in this test."""

from ..row import Row

ROW = Row(
    "https://api.example.com/v1",
    "EXAMPLE_CLOUD_API_KEY",
    "EXAMPLE_CLOUD_BASE_URL",
    "https://example.com/keys",
)
