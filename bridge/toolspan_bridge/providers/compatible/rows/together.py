"""Together AI."""

from ..row import Row

ROW = Row("https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_BASE_URL", "https://api.together.ai")
