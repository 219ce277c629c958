"""What is said of the time left of a simulation."""

from giantstep.show.progress import Pace


def test_no_time_left_is_told_before_the_rate_is_known() -> None:
    """Not of the first two reports, nor of less than 5 % of the work."""
    pace = Pace()
    pace.note(0.001, 10)
    pace.note(0.06, 20)
    assert "left" not in pace.line
    pace.note(0.07, 30)
    assert pace.line.endswith(" left")
    early = Pace()
    for share in (0.001, 0.002, 0.003, 0.004):
        early.note(share, 1)
    assert "left" not in early.line
    assert early.line.startswith("simulating: 0%, ")
