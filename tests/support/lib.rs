//! The suites of the workspace are the targets beside this file; the package itself holds no code.
