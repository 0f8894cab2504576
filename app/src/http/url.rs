//! [`Url`]: an address with its path, and where a redirect from it leads.

use std::fmt;

use super::{Server, Trust};

/// Longest address that is followed.
const MAX_BYTES: usize = 16 << 10;

/// The address of something on a server. Shown without its query, which may be a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    /// The server.
    pub(crate) server: Server,
    /// Path and query: empty, or with a slash at the start.
    pub(crate) path: String,
}

impl Url {
    /// Reads `https://host:port/path?query` or the same with `http`.
    ///
    /// # Errors
    /// It is no such address, or one with a name or a password in it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let is_encrypted = scheme.eq_ignore_ascii_case("https");
        if !is_encrypted && !scheme.eq_ignore_ascii_case("http") {
            return Err(format!("{:?} is no http:// or https:// address", shown(text)));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter);
        if host.is_empty() || !host.chars().all(is_plain) {
            return Err(format!("{:?} is no host", shown(host)));
        }
        let after_bracket = host.rsplit_once(']').map_or(host, |(_, after)| after);
        let usual = if is_encrypted { 443 } else { 80 };
        let server_host = if after_bracket.contains(':') { host.to_owned() } else { format!("{host}:{usual}") };
        let path = rest[host.len()..].to_owned();
        let path = if path.starts_with('?') { format!("/{path}") } else { path };
        if path.len() > MAX_BYTES || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("{:?} is no path", shown(&path)));
        }
        Ok(Self { server: Server { host: server_host, is_encrypted, trust: Trust::System }, path })
    }

    /// The address of `path`, which begins with a slash, below this one.
    pub(crate) fn below(&self, path: &str) -> Self {
        Self { server: self.server.clone(), path: format!("{}{path}", self.path.trim_end_matches('/')) }
    }

    /// Where a `Location` of this address's answer leads: an address, `//host/path`, `/path`, `?query` or `path`.
    ///
    /// # Errors
    /// It is no address.
    pub(crate) fn join(&self, location: &str) -> Result<Self, String> {
        let location = location.trim();
        let origin = format!("{}://{}", self.scheme(), self.server.host);
        let here = self.path.split('?').next().unwrap_or_default();
        let before_query = location.split(['?', '#']).next().unwrap_or_default();
        let joined = if before_query.contains("://") {
            Self::parse(location)
        } else if location.starts_with("//") {
            Self::parse(&format!("{}:{location}", self.scheme()))
        } else if location.starts_with('/') {
            Self::parse(&format!("{origin}{location}"))
        } else if before_query.is_empty() {
            Self::parse(&format!("{origin}{here}{location}"))
        } else {
            let folder = here.rsplit_once('/').map_or("", |(folder, _)| folder);
            Self::parse(&format!("{origin}{folder}/{location}"))
        }?;
        let trust = self.server.trust.clone();
        Ok(Self { server: Server { trust, ..joined.server }, path: without_dots(&joined.path) })
    }

    fn scheme(&self) -> &'static str {
        if self.server.is_encrypted { "https" } else { "http" }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        write!(formatter, "{}://{}{path}", self.scheme(), self.server.host_header())
    }
}

/// `/a/../b` as `/b`; the query stays as it is.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match *segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// The beginning of what a server said.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, path, shown) in [
            ("https://hub.test", "hub.test:443", "", "https://hub.test"),
            ("HTTP://hub.test:8080/a/b?c=d#e", "hub.test:8080", "/a/b?c=d", "http://hub.test:8080/a/b"),
            ("https://[::1]?q", "[::1]:443", "/?q", "https://[::1]/"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.server.host.as_str(), url.path.as_str()), (host, path), "{text}");
            assert_eq!(url.to_string(), shown, "{text}");
        }
        let hub = Url::parse("https://hub.test/mirror/").unwrap();
        assert_eq!(hub.below("/o/r").path, "/mirror/o/r");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "hub.test",
            "ftp://x",
            "https://",
            "https:///a",
            "https://me:key@x/",
            "http://a/b c",
            "http://a/\r\nX: y",
        ] {
            assert!(Url::parse(text).is_err(), "{text:?}");
        }
        assert!(Url::parse(&format!("http://a/{}", "x".repeat(MAX_BYTES))).is_err());
    }

    #[test]
    fn a_location_leads_on_from_where_it_was_said() {
        let here = Url::parse("https://hub.test:8443/o/r/file?x=1").unwrap();
        for (location, host, path) in [
            ("http://other.test/p?q=http://z", "other.test:80", "/p?q=http://z"),
            ("//other.test/p", "other.test:443", "/p"),
            ("/p/./q/../s?t", "hub.test:8443", "/p/s?t"),
            ("next?to=https://z", "hub.test:8443", "/o/r/next?to=https://z"),
            ("../up", "hub.test:8443", "/o/up"),
            ("../../../..", "hub.test:8443", "/"),
            ("?y=2", "hub.test:8443", "/o/r/file?y=2"),
        ] {
            let next = here.join(location).unwrap();
            assert_eq!((next.server.host.as_str(), next.path.as_str()), (host, path), "{location}");
        }
        assert!(!here.join("http://other.test/p").unwrap().server.is_encrypted);
        assert!(here.join("//other.test/p").unwrap().server.is_encrypted);
        assert!(here.join("ftp://x/").is_err());
    }
}
