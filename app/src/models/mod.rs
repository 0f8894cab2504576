//! What can be installed (`assets/models.toml`), what is installed, and fetching it by package and checksum.
