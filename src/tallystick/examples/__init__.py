"""Small examples that come with the package."""
