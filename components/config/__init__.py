"""The typed settings of a stack: types, sections, rules between them, and where they are read from."""
