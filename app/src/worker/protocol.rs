//! Frames between host and worker: a little-endian `u32` length, then that many bytes of bincode.
//!
//! This is the only module that names bincode. The worker speaks first: one [`Hello`], so that a binary of
//! another version, or one that is no worker at all, is told apart from a damaged conversation.
//!
//! Invariant: a length is only a claim. Nothing is allocated for a frame before its bytes have arrived.

use std::io::{self, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the frames and of every message in them. Host and worker must agree exactly.
pub const PROTOCOL_VERSION: u32 = 3;

/// Most bytes in one frame.
pub const MAX_FRAME_BYTES: usize = 1 << 30;

/// Bytes reserved for a frame before it has arrived.
const FIRST_RESERVE_BYTES: usize = 64 << 10;

/// The first frame of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL_VERSION`] of the worker.
    pub version: u32,
    /// What it serves: `extract` or `generate`.
    pub verb: String,
}

impl Hello {
    /// The hello of this build.
    pub fn new(verb: &str) -> Self {
        Self { version: PROTOCOL_VERSION, verb: verb.to_owned() }
    }
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe broke.
    #[error("pipe: {0}")]
    Io(#[from] io::Error),
    /// The other side ended inside a frame.
    #[error("the stream ended {missing_bytes} bytes before the end of a frame")]
    Truncated {
        /// Bytes that were announced and did not come.
        missing_bytes: usize,
    },
    /// Larger than any message of the protocol.
    #[error("a frame of {found_bytes} bytes, at most {MAX_FRAME_BYTES} are allowed")]
    TooLarge {
        /// Bytes announced or made.
        found_bytes: usize,
    },
    /// The bytes are not the message that was expected.
    #[error("not a message of this protocol: {0}")]
    Malformed(String),
}

/// Encodes one message with its length in front.
///
/// # Errors
/// The message is larger than [`MAX_FRAME_BYTES`] or holds a path that is not UTF-8.
pub fn encode_frame<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let payload = bincode::serde::encode_to_vec(message, bincode::config::standard())
        .map_err(|err| FrameError::Malformed(err.to_string()))?;
    if payload.len() > MAX_FRAME_BYTES {
        return Err(FrameError::TooLarge { found_bytes: payload.len() });
    }
    let mut frame = Vec::with_capacity(4 + payload.len());
    frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    frame.extend_from_slice(&payload);
    Ok(frame)
}

/// Writes one message and flushes.
///
/// # Errors
/// As [`encode_frame`], and when the pipe is broken.
pub fn write_frame<T: Serialize>(writer: &mut impl Write, message: &T) -> Result<(), FrameError> {
    writer.write_all(&encode_frame(message)?)?;
    writer.flush()?;
    Ok(())
}

/// Reads one message; `None` when the stream ended between two frames.
///
/// # Errors
/// The stream ended inside a frame, or the frame is too large or not a `T`.
pub fn read_frame<T: DeserializeOwned>(reader: &mut impl Read) -> Result<Option<T>, FrameError> {
    let Some(payload_bytes) = read_length(reader)? else {
        return Ok(None);
    };
    if payload_bytes > MAX_FRAME_BYTES {
        return Err(FrameError::TooLarge { found_bytes: payload_bytes });
    }
    let mut payload = Vec::with_capacity(payload_bytes.min(FIRST_RESERVE_BYTES));
    reader.take(payload_bytes as u64).read_to_end(&mut payload)?;
    if payload.len() < payload_bytes {
        return Err(FrameError::Truncated { missing_bytes: payload_bytes - payload.len() });
    }
    decode(&payload).map(Some)
}

fn read_length(reader: &mut impl Read) -> Result<Option<usize>, FrameError> {
    let mut bytes = [0; 4];
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => {
                return Err(FrameError::Truncated { missing_bytes: bytes.len() - filled });
            }
            Ok(read) => filled += read,
            Err(err) if err.kind() == ErrorKind::Interrupted => {}
            Err(err) => return Err(err.into()),
        }
    }
    Ok(Some(u32::from_le_bytes(bytes) as usize))
}

fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FrameError> {
    let config = bincode::config::standard().with_limit::<MAX_FRAME_BYTES>();
    let (message, read_bytes) =
        bincode::serde::decode_from_slice(payload, config).map_err(|err| FrameError::Malformed(err.to_string()))?;
    if read_bytes != payload.len() {
        return Err(FrameError::Malformed(format!("{} bytes left over after the message", payload.len() - read_bytes)));
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn frames_of(messages: &[String]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            write_frame(&mut bytes, message).unwrap();
        }
        bytes
    }

    #[test]
    fn messages_come_back_in_order_and_then_the_stream_ends() {
        let messages = ["one".to_owned(), String::new(), "ü".repeat(100_000)];
        let bytes = frames_of(&messages);
        let mut reader = bytes.as_slice();
        for message in &messages {
            assert_eq!(read_frame::<String>(&mut reader).unwrap().as_ref(), Some(message));
        }
        assert!(read_frame::<String>(&mut reader).unwrap().is_none());
    }

    #[test]
    fn every_cut_inside_a_frame_is_an_error() {
        let bytes = frames_of(&["a message".to_owned()]);
        for cut in 1..bytes.len() {
            let result = read_frame::<String>(&mut &bytes[..cut]);
            assert!(matches!(result, Err(FrameError::Truncated { .. })), "cut at {cut}: {result:?}");
        }
    }

    #[test]
    fn a_huge_length_is_refused_before_anything_is_read() {
        let result = read_frame::<String>(&mut [0xff, 0xff, 0xff, 0xff].as_slice());
        assert!(matches!(result, Err(FrameError::TooLarge { .. })));
    }

    #[test]
    fn a_length_that_lies_is_an_error_and_costs_no_memory() {
        let claimed = (MAX_FRAME_BYTES as u32).to_le_bytes();
        let result = read_frame::<String>(&mut claimed.as_slice());
        assert!(matches!(result, Err(FrameError::Truncated { .. })));
    }

    #[test]
    fn other_messages_are_malformed() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &(7_u8, [250_u8, 251, 252])).unwrap();
        let result = read_frame::<Hello>(&mut bytes.as_slice());
        assert!(matches!(result, Err(FrameError::Malformed(_))));
    }
}
