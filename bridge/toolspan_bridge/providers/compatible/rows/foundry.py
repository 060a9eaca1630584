"""Azure AI Foundry: models of all makers that you deployed there, by the v1 API of your resource."""

from ..row import Row

ROW = Row(
    "https://RESOURCE.services.ai.azure.com/openai/v1",
    "AZURE_AI_API_KEY",
    "AZURE_AI_BASE_URL",
    "https://ai.azure.com",
    per_resource=True,
)
