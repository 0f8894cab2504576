//! Benches
