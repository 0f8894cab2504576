//! Child processes of the same binary for whatever parses hostile bytes or can abort the process.
