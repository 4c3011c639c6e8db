"""Reports: one stream of records, and its views."""
