//! How a followed folder is.

/// Whether what changes in a followed folder can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// It is there.
    There,
    /// It is not there: deleted, renamed, or on a disk that is not plugged in.
    Gone,
    /// It is there and cannot be read.
    Unreadable(String),
}

impl FolderState {
    /// Whether it can be read.
    pub fn is_there(&self) -> bool {
        *self == Self::There
    }
}
