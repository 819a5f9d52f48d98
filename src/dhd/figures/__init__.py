"""The paper's data figures, drawn from the frames that its tables are written from."""
