"""The stream of the quickstart with one Jinja2 template: `jinja.py NODES HEAD TAIL`."""

import sys
from itertools import islice
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

DEVICES = (
    ("0000:53:00.0", "pci0000:44"),
    ("0000:64:00.0", "pci0000:55"),
    ("0000:75:00.0", "pci0000:66"),
    ("0000:86:00.0", "pci0000:77"),
    ("0000:97:00.0", "pci0000:88"),
    ("0000:a8:00.0", "pci0000:99"),
    ("0000:b9:00.0", "pci0000:aa"),
    ("0000:ca:00.0", "pci0000:bb"),
)


PIECES = 5_000
"""How many of the template's pieces a write takes: one by one takes four times as long, all at once twice."""


def main(nodes: int, head: str, tail: str) -> None:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, trim_blocks=True, autoescape=False)
    template = environment.get_template("stream.yaml.j2")
    texts = {"head": Path(head).read_text(encoding="utf-8"), "tail": Path(tail).read_text(encoding="utf-8")}
    pieces = template.generate(nodes=nodes, devices=DEVICES, **texts)
    while some := "".join(islice(pieces, PIECES)):
        sys.stdout.buffer.write(some.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
