//! Only tests: see `tests/it`.
