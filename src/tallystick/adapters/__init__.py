"""Where people already are: inspect_ai, pydantic-evals, Hugging Face evaluate, pytest and promptfoo.

Each module imports its package when it is imported itself, and nothing else of tallystick knows about them.
"""
