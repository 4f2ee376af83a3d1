"""The page at `/`: a chat that shows the denoising live."""

from .page import router

__all__ = ["router"]
