"""python -m kwokgen."""

from kwokgen.cli import main

main()
