//! What a hub answers: redirects are followed, refusals are put into words, ranges are checked.

use super::ModelHub;
use crate::http::{HttpError, Request, Response, Url, send};
use crate::models::ModelError;
use crate::progress::CancelToken;

const MAX_REDIRECTS: usize = 5;

/// Why an attempt ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The connection was lost or never there: another attempt may do better.
    Passing(HttpError),
    /// Another attempt would end in the same way.
    Final(ModelError),
}

impl From<ModelError> for Stop {
    fn from(err: ModelError) -> Self {
        Self::Final(err)
    }
}

/// An error about what is at `url`.
pub(super) fn failed(url: &Url, detail: impl Into<String>) -> ModelError {
    ModelError::Hub { url: url.to_string(), detail: detail.into() }
}

impl Stop {
    /// What a failed connection to `url` means.
    pub(super) fn after(url: &Url, err: HttpError) -> Self {
        match err {
            HttpError::Dropped(_) | HttpError::Silent(_) | HttpError::Refused(_) => Self::Passing(err),
            HttpError::Cancelled => Self::Final(ModelError::Cancelled),
            HttpError::Unsafe(_) | HttpError::Malformed(_) => Self::Final(failed(url, err.to_string())),
        }
    }
}

impl ModelHub {
    /// Asks for `url` from byte `from` on, and where it was redirected to.
    pub(super) fn ask<'a>(&self, url: &Url, from: u64, cancel: &'a CancelToken) -> Result<(Url, Response<'a>), Stop> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask_once(&url, from, cancel).map_err(|err| Stop::after(&url, err))?;
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok((url, response));
            }
            url = redirected(&url, response.header("location"))?;
        }
        Err(failed(&url, format!("the hub redirects more than {MAX_REDIRECTS} times, last to")).into())
    }

    fn ask_once<'a>(&self, url: &Url, from: u64, cancel: &'a CancelToken) -> Result<Response<'a>, HttpError> {
        let line = format!("GET {}", if url.path.is_empty() { "/" } else { &url.path });
        let range = if from > 0 { format!("Range: bytes={from}-\r\n") } else { String::new() };
        let headers = format!("User-Agent: outcrop\r\nAccept: */*\r\nAccept-Encoding: identity\r\n{range}");
        send(&url.server, Request { line: &line, headers: &headers, body: "" }, self.patience, cancel)
    }
}

/// Where `location`, said by `url`, leads.
fn redirected(url: &Url, location: Option<&str>) -> Result<Url, ModelError> {
    let location = location.ok_or_else(|| failed(url, "it redirects, but says not where to"))?;
    let next =
        url.join(location).map_err(|detail| failed(url, format!("it redirects to what is no address: {detail}")))?;
    if url.server.is_encrypted && !next.server.is_encrypted {
        return Err(failed(
            url,
            format!("it redirects from an encrypted connection to a plain one, {next}; not followed"),
        ));
    }
    Ok(next)
}

/// The size of the whole file, from the answer to a request for its bytes from `from` on.
pub(super) fn whole_size(url: &Url, response: &Response<'_>, from: u64) -> Result<Option<u64>, ModelError> {
    let said = response.header("content-range").unwrap_or("nothing");
    let range = parse_range(said).filter(|(first, _)| *first == from);
    let (_, size) = range.ok_or_else(|| {
        let said: String = said.chars().take(60).collect();
        failed(url, format!("the bytes from {from} on were asked for, but it sends {said:?}; what is here is kept"))
    })?;
    Ok(size)
}

/// First byte and whole size of `bytes 5-9/10` or `bytes 5-9/*`.
fn parse_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let size: Option<u64> = if size == "*" { None } else { Some(size.parse().ok()?) };
    (first <= last && size.is_none_or(|size| last < size)).then_some((first, size))
}

/// What a status other than success means.
pub(super) fn refusal(url: &Url, response: &Response<'_>) -> ModelError {
    let status = response.status;
    let said = match status {
        401 | 403 => "the hub gives it only to those who log in, which Outcrop never does; fetch the file by hand and \
                      then `outcrop models add PATH`"
            .to_owned(),
        404 | 410 => "the hub has no such file; check its name, and the hub's address in OUTCROP_HUB".to_owned(),
        416 => "it says that the file ends before its first byte".to_owned(),
        429 => format!("the hub gets too many requests from here; {}", again(response.header("retry-after"))),
        500..=599 => {
            format!("the hub is out of order just now; {}", again(response.header("retry-after")))
        }
        _ => "the hub gives another answer than the file".to_owned(),
    };
    failed(url, format!("{said} (status {status})"))
}

/// When to try again.
fn again(retry_after: Option<&str>) -> String {
    let Some(value) = retry_after.map(str::trim).filter(|value| !value.is_empty()) else {
        return "run the command again later".to_owned();
    };
    let value: String = value.chars().filter(|letter| !letter.is_control()).take(40).collect();
    let is_secs = value.bytes().all(|byte| byte.is_ascii_digit());
    if is_secs { format!("run the command again in {value} s") } else { format!("run the command again after {value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_wrong_ones_are_not() {
        assert_eq!(parse_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_range("bytes 0-0/*"), Some((0, None)));
        for wrong in ["", "bytes", "bytes */10", "bytes 9-5/10", "bytes 5-10/10", "bytes 5-/10", "pages 5-9/10"] {
            assert_eq!(parse_range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_time_to_wait_is_named() {
        assert!(again(Some("120")).ends_with("in 120 s"));
        assert!(again(Some("Wed, 21 Oct 2026 07:28:00 GMT")).ends_with("after Wed, 21 Oct 2026 07:28:00 GMT"));
        assert!(again(None).ends_with("later") && again(Some(" ")).ends_with("later"));
    }
}
