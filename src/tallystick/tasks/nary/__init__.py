"""The task `nary`: N-ary relations of entities."""
