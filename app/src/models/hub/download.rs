//! One file of a hub into a partial file, going on from what is there.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::ModelHub;
use super::answer::{Stop, failed, refusal, whole_size};
use crate::http::{HttpError, Response, Url};
use crate::models::ModelError;
use crate::models::catalogue::HubFile;
use crate::progress::CancelToken;

/// Attempts after the first one that bring nothing.
const MAX_RETRIES: u32 = 3;
/// An attempt that brought this much was worth it: the next failure is counted as the first.
const PROGRESS_BYTES: u64 = 1 << 20;
const REPORT_EVERY: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_millis(50);

/// A file to download.
#[derive(Clone, Copy, Debug)]
pub(in crate::models) struct Wanted<'a> {
    /// Where it is.
    pub(in crate::models) file: &'a HubFile,
    /// Its size, where that is known.
    pub(in crate::models) bytes: Option<u64>,
    /// Whether to go on from what is there, which needs a sum to check it by.
    pub(in crate::models) goes_on: bool,
}

/// Gets the bytes that are here, and of how many where that is known.
type OnBytes<'a> = dyn FnMut(u64, Option<u64>) + 'a;

impl ModelHub {
    /// Downloads a file to `partial`, as far as the server has it; whether it is the right one is for the caller to
    /// check. What came is kept when it fails.
    pub(in crate::models) fn download(
        &self,
        wanted: Wanted<'_>,
        partial: &Path,
        on_bytes: &mut OnBytes<'_>,
        cancel: &CancelToken,
    ) -> Result<(), ModelError> {
        let url = self.url(wanted.file);
        let mut retries = 0;
        loop {
            let before = length(partial)?;
            let err = match self.attempt(&url, wanted, partial, on_bytes, cancel) {
                Ok(()) => return Ok(()),
                Err(Stop::Final(err)) => return Err(err),
                Err(Stop::Passing(err)) => err,
            };
            let here = length(partial)?;
            if here >= before + PROGRESS_BYTES {
                retries = 0;
            }
            // Where nobody listened at first, nobody will in a second.
            let is_hopeless = matches!(err, HttpError::Refused(_)) && retries == 0 && here == before;
            if is_hopeless || retries == MAX_RETRIES {
                return Err(failed(&url, given_up(&err, wanted, here)));
            }
            retries += 1;
            rest(self.pause * retries, cancel)?;
        }
    }

    fn attempt(
        &self,
        url: &Url,
        wanted: Wanted<'_>,
        partial: &Path,
        on_bytes: &mut OnBytes<'_>,
        cancel: &CancelToken,
    ) -> Result<(), Stop> {
        let mut here = length(partial)?;
        if here > 0 && wanted.bytes == Some(here) && wanted.goes_on {
            return Ok(());
        }
        if !wanted.goes_on || wanted.bytes.is_some_and(|bytes| here > bytes) {
            here = 0;
        }
        let (from, mut response) = self.ask(url, here, cancel)?;
        let size = match response.status {
            200 => {
                here = 0;
                response.length()
            }
            206 => whole_size(&from, &response, here)?,
            // There is no more of it.
            416 if here > 0 => return Ok(()),
            _ => return Err(refusal(&from, &response).into()),
        };
        if let (Some(size), Some(bytes)) = (size, wanted.bytes)
            && size != bytes
        {
            return Err(failed(&from, format!("the hub's file has {size} bytes but {bytes} were expected")).into());
        }
        let target = Target { path: partial, file: open(partial, here)? };
        target.receive(&from, &mut response, here, wanted.bytes.or(size), on_bytes)
    }
}

/// The partial file while it is written.
struct Target<'a> {
    path: &'a Path,
    file: File,
}

impl Target<'_> {
    /// Writes the body behind the `here` bytes that are kept. One byte over `size` is enough to see that it is too long.
    fn receive(
        mut self,
        from: &Url,
        response: &mut Response<'_>,
        mut here: u64,
        size: Option<u64>,
        on_bytes: &mut OnBytes<'_>,
    ) -> Result<(), Stop> {
        on_bytes(here, size);
        let mut reported = Instant::now();
        while size.is_none_or(|size| here <= size) {
            let Some(piece) = response.piece().map_err(|err| Stop::after(from, err))? else {
                break;
            };
            self.file.write_all(&piece).map_err(|err| self.unwritten(err))?;
            here += piece.len() as u64;
            if reported.elapsed() >= REPORT_EVERY {
                on_bytes(size.map_or(here, |size| here.min(size)), size);
                reported = Instant::now();
            }
        }
        // Nobody but the size knows whether the end of a connection is the end of a file; a server that sends less
        // than the whole range is asked for the rest.
        if size.is_some_and(|size| here < size) && !(response.status == 200 && response.is_whole()) {
            return Err(Stop::Passing(HttpError::Dropped("before the file's end".to_owned())));
        }
        self.file.sync_all().map_err(|err| self.unwritten(err))?;
        on_bytes(size.map_or(here, |size| here.min(size)), size);
        Ok(())
    }

    fn unwritten(&self, err: std::io::Error) -> ModelError {
        unwritten(self.path, err)
    }
}

/// What a write that failed means.
fn unwritten(path: &Path, err: std::io::Error) -> ModelError {
    if matches!(err.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        return ModelError::DiskFull { path: path.to_owned() };
    }
    ModelError::io(path)(err)
}

/// Opens the partial file behind its first `keep` bytes.
fn open(partial: &Path, keep: u64) -> Result<File, ModelError> {
    let file = OpenOptions::new().create(true).append(true).open(partial).map_err(|err| unwritten(partial, err))?;
    if length(partial)? != keep {
        file.set_len(keep).map_err(ModelError::io(partial))?;
    }
    Ok(file)
}

/// Bytes of a file; 0 where there is none.
fn length(path: &Path) -> Result<u64, ModelError> {
    match path.metadata() {
        Ok(meta) => Ok(meta.len()),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(0),
        Err(err) => Err(ModelError::io(path)(err)),
    }
}

fn given_up(err: &HttpError, wanted: Wanted<'_>, here: u64) -> String {
    let here = if wanted.goes_on { here } else { 0 };
    let of = wanted.bytes.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
    match here {
        0 => err.to_string(),
        _ => format!("{err}; {here}{of} bytes are here, and the same command goes on from there when it is run again"),
    }
}

/// Waits, but not for long after a cancel.
fn rest(pause: Duration, cancel: &CancelToken) -> Result<(), ModelError> {
    let begun = Instant::now();
    while begun.elapsed() < pause {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        std::thread::sleep(POLL.min(pause));
    }
    Ok(())
}
