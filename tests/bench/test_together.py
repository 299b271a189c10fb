"""What times are counted in where AAs push together."""

from bench.together import never_resting
from tests.support.until import until


def test_the_clock_is_the_cpu_of_a_process_that_never_rests() -> None:
    with never_resting() as clock:
        began = clock()
        until(lambda: clock() > began)
