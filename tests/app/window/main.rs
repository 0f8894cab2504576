//! The window, driven by role and label over a real library in a temporary folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bench;
mod chat;
mod chat_faults;
mod chat_history;
mod chunks;
mod documents;
mod keyboard;
mod lab;
mod model_server;
#[path = "../model_support.rs"]
mod model_support;
mod models;
mod narrow;
mod pictures;
mod search;
mod speed;
