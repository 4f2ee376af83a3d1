"""The paper's three findings, measured on any model and any prompts."""
