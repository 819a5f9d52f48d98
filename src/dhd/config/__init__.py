"""Settings: declared once as pydantic models, validated before the first job."""
