"""What the screens show, as data: pure functions of records, tested without a terminal."""
