"""How far a study is, from its files alone: cheap to ask while jobs run."""
