"""Model x method x task -> results on disk: resumable, recorded, checkable."""
