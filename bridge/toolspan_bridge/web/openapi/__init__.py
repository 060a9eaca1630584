"""The description of the API as OpenAPI 3.1, made of the endpoints, and the page that shows it."""
