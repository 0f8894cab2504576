//! What the models space lists.

/// A model or native library, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Size of its files.
    pub bytes: u64,
    /// Its licence.
    pub licence: String,
    /// Whether it is here.
    pub installed: bool,
    /// Whether it can write answers.
    pub is_generator: bool,
    /// Whether it writes the answers when no model is chosen.
    pub is_default: bool,
}
