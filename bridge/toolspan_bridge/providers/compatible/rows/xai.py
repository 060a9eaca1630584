"""xAI."""

from ..row import Row

ROW = Row("https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", "https://console.x.ai")
