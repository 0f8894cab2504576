//! Support
