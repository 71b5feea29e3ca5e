//! The tests live in `it/`.
