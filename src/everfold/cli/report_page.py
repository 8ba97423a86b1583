"""The report page."""

from pathlib import Path

from everfold.cli.replaying import Replayed
from everfold.session import Session


async def write_report(path: Path, session: Session, replayed: Replayed) -> None:
    """Write."""
