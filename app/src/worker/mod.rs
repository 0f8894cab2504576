//! Child processes of the same binary for whatever parses hostile bytes or can abort the process.
//!
//! * [`protocol`]: frames on stdin and stdout, the hello that opens every conversation.
//! * [`child`]: the host's side. [`WorkerChild`] is one process; [`WorkerBinary`] says which program it runs.
//! * [`serve`]: the worker's side. [`Service`] reads requests and sends responses.
//! * [`extract`]: `outcrop worker extract` and [`ExtractPool`], which runs it.
//!   On Linux that worker gives up the network and writing (`sandbox`) before it reads the first byte.
//! * [`generate`]: `outcrop worker generate`, a language model.
//!
//! Invariant: a worker never outlives its host and never starts workers of its own; whatever it does, the host
//! gets an error within its deadline.

pub mod child;
pub mod extract;
mod faults;
pub mod generate;
#[cfg(feature = "llama")]
mod llama;
pub mod protocol;
#[cfg(target_os = "linux")]
mod sandbox;
pub mod serve;
mod spawn;
mod stderr;

pub use child::{WorkerBinary, WorkerChild, WorkerError};
pub use extract::{ExtractPool, serve_extract};
pub use generate::serve_generate;
pub use serve::Service;
