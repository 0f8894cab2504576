//! The window: panels that read [`crate::state`] and push [`crate::command`]s.
//!
//! Start at [`Workbench`]: its `logic` takes job events and commands into the state, its `ui` only draws.
//!
//! Invariant: no file, lock, channel or GPU wait while drawing; no colour outside `theme`; every widget has a
//! label.

mod chat;
mod chunks;
mod command_palette;
mod followed;
mod icons;
mod inspector;
mod library;
mod models;
mod notices;
pub mod offscreen;
mod page_view;
mod rail;
mod reading;
mod search;
mod settings;
mod shortcuts;
mod similarity;
mod status_line;
mod theme;
mod widgets;
mod window;
mod window_icon;
mod workbench;

pub use window::{WindowError, WindowOptions, run};
pub use workbench::{Workbench, WorkbenchOptions};
