"""The report of a run: report.json, junit.xml and a self-contained index.html."""
