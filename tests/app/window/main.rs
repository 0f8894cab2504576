//! The window, driven by role and label over a real library in a temporary folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bench;
mod chat;
mod chunks;
mod documents;
mod keyboard;
mod lab;
mod model_server;
mod models;
mod narrow;
mod pictures;
mod search;
mod speed;
