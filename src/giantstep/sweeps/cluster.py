"""Tasks on a Dask cluster (extra ``cluster``): the files come back here and are written here.

The workers need no access to the folder.  A task whose worker is lost is given to another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from giantstep.errors import InputError
from giantstep.store.folder import Store
from giantstep.sweeps.work import Report, Task, perform_away

if TYPE_CHECKING:
    from distributed import Client

CONNECTING = "10s"
"""How long to wait for a scheduler: one that is there answers at once."""


class Cluster:
    """A client of the scheduler at an address, or of workers started here for ``local``."""

    def __init__(self, address: str, count: int) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InputError(
                f"cluster needs the extra 'cluster' (dask[distributed]), got {address!r}"
            ) from None
        self.cluster: Any = None
        if address == "local":
            self.cluster = LocalCluster(
                n_workers=count, threads_per_worker=1, dashboard_address=None
            )
        try:
            self.client: Client = Client(self.cluster or address, timeout=CONNECTING)
        except (OSError, ValueError) as error:
            raise InputError(
                f"cluster must be 'local' or the address of a scheduler, got {address!r}: {error}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[int, Report]]:
        """The number and the report of each task as it ends and its files are written."""
        from distributed import as_completed

        futures = {
            self.client.submit(perform_away, task, pure=False): number
            for number, task in enumerate(tasks)
        }
        for future in as_completed(futures):
            number = futures.pop(future)
            try:
                # A result that went with its worker is computed again while this waits.
                report, files = future.result()
            except Exception as error:
                # Whatever the cluster did to a task, the others go on.
                yield number, {"failure": f"the cluster lost it: {error!r}", "traceback": None}
                continue
            for name, content in files:
                store.write(name, content)
            yield number, report
