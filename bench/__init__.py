"""kwokgen beside what people use instead: `python -m bench` measures, and writes RESULTS.md and results.svg."""
