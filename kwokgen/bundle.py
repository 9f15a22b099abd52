"""Series to files: names in the order of applying, each file with the line that says whose it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kwokgen import emit, readme
from kwokgen.model.cluster import Cluster
from kwokgen.resources import configuration, workload
from kwokgen.series import Series

MARK = "# kwokgen bundle: "
MOST_KUSTOMIZED = 1_000
"""kustomize is quadratic in the number of documents: https://github.com/kubernetes-sigs/kustomize/issues/5084"""
MOST_BYTES = 16 * 1024 * 1024
"""Of a file; kubectl takes about twenty times as much memory."""
KUSTOMIZATION = "Kustomization"


class File(NamedTuple):
    """A file of a bundle: its path below the folder, and its content, made anew at each call."""

    path: str
    pieces: Callable[[], Iterator[bytes]]

    @property
    def applied(self) -> bool:
        """Whether `kubectl apply -f DIR` reads it, and the stream on stdout has it."""
        return self.path.endswith(".yaml") and "/" not in self.path


class Bundle(NamedTuple):
    """All files, in byte order of their paths."""

    name: str
    files: tuple[File, ...]

    def stream(self) -> Iterator[bytes]:
        """The bytes of every file that is applied, one after the other."""
        for file in self.files:
            if file.applied:
                yield from file.pieces()


def bundle(cluster: Cluster, series: Sequence[Series], *, only: str | None = None) -> Bundle:
    """The files of a cluster; with `only: crds` just the definitions that must be there first."""
    if only == "crds":
        return Bundle(
            cluster.name, tuple(_manifests(cluster.name, [one for one in series if one.file == "05-crds.yaml"]))
        )
    files = [*_manifests(cluster.name, series), *_beside(cluster, series)]
    return Bundle(cluster.name, tuple(sorted(files, key=lambda file: file.path.encode())))


def mark(name: str) -> str:
    """The first line of every file of a bundle."""
    return f"{MARK}{name}\n"


def _manifests(name: str, series: Sequence[Series]) -> Iterator[File]:
    groups: dict[str, list[Series]] = {}
    for one in series:
        for path, part in _chunks(one):
            groups.setdefault(path, []).append(part)
    for path in sorted(groups):
        yield File(path, _content(name, tuple(groups[path])))


def _chunks(series: Series) -> Iterator[tuple[str, Series]]:
    first = 0
    for path, last in series.parts:
        yield path, series.part(first, last)
        first = last + 1
    if series.parts:
        return
    rows = _rows_a_file(series) if series.chunk else series.rows
    if series.rows <= rows:
        yield series.file, series
        return
    stem = series.file.removesuffix(".yaml")
    for number in range(-(-series.rows // rows)):
        first = number * rows
        yield f"{stem}.{number:04d}.yaml", series.part(first, first + rows - 1)


def _rows_a_file(series: Series) -> int:
    """As many as its chunk, or fewer where they are large: kubectl reads a file whole before it applies any of it."""
    largest = max(len(emit.skeleton(run.shape)) for run in series.runs)
    return max(1, min(series.chunk, MOST_BYTES // largest))


def _content(name: str, series: tuple[Series, ...]) -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        yield mark(name).encode()
        for one in series:
            yield from emit.stamp(one)

    return pieces


def _text(path: str, text: str) -> File:
    return File(path, lambda: iter((text.encode(),)))


def _beside(cluster: Cluster, series: Sequence[Series]) -> Iterator[File]:
    """What is read by people and other programs than `kubectl apply -f`."""
    head = mark(cluster.name)
    kustomized = sum(one.document_count for one in series) <= MOST_KUSTOMIZED
    yield _text("README.md", head + readme.text(cluster, series, kustomized=kustomized))
    if kustomized:
        document = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": KUSTOMIZATION,
            "resources": sorted({path for one in series for path, _ in _chunks(one) if "/" not in path}),
        }
        yield _text(KUSTOMIZATION, head + emit.dump(document))
    for path, text in (*configuration.files(cluster), *workload.files(cluster)):
        yield _text(path, head + text)
