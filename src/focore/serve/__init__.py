"""The HTTP server: OpenAI's API over one engine, and a page."""
