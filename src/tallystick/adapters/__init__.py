"""Where people already are: inspect_ai, pydantic-evals, Hugging Face evaluate, pytest and promptfoo; and drop-ins with the names and
answers of other scorers: seqeval, nervaluate, CorefEvaluator (`coref`), smatch, scikit-learn's report.

Each module imports its package when it is imported itself, if it needs it at all, and nothing else of tallystick knows about them.
"""
