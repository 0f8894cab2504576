//! Small building blocks of the panels: buttons, chips, fields, empty states, and words for numbers.

mod button;
mod chip;
mod empty;
mod export;
mod field;
pub(crate) mod format;
mod segmented;
mod states;
mod unbroken;

pub(crate) use button::{icon_button, icon_text_button, link, primary, quiet};
pub(crate) use chip::{Tone, chip};
pub(crate) use empty::empty_state;
pub(crate) use export::export_menu;
pub(crate) use field::{field, number_field};
pub(crate) use segmented::segmented;
pub(crate) use states::{error_block, hairline, pace_line, pending_line, vertical_hairline};
pub(crate) use unbroken::unbroken;
