"""The task `coreference`: coreference chains."""
