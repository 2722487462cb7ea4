"""The named metrics, each a few readable expressions of the algebra."""
