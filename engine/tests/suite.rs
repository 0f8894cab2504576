//! dev only
#[path = "../../tests/engine/main.rs"]
mod suite;
