//! The pages that the selected passage stands on, as they look.

use std::sync::Arc;

use super::Loadable;
use crate::extract::PagePicture;

/// Pictures for the inspector.
#[derive(Clone, Debug, Default)]
pub struct PagesState {
    /// Number of the newest request.
    pub asked: u64,
    /// The pictures; none for formats whose pages cannot be drawn.
    pub pictures: Loadable<Vec<Arc<PagePicture>>>,
}
