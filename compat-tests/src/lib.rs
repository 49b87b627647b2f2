//! Third-party crates running on gmp; the tests are in `tests/`.
