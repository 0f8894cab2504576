//! [`Address`]: where a model server listens, as people type it.

use crate::http::{Server, Trust};

/// The address of a model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where it is, and whether the connection is encrypted.
    pub(super) server: Server,
    /// The path in front of `/chat/completions`, without a slash at its end.
    pub(super) prefix: String,
    /// The model; `None` takes the server's first one.
    pub(super) model: Option<String>,
}

impl Address {
    /// Whether a model's name is the address of a server.
    pub fn is_address(name: &str) -> bool {
        name.contains("://")
    }

    /// Reads `http://localhost:11434/v1#model`, or the same with `https`. Without a path `/v1` is meant.
    ///
    /// # Errors
    /// It is no `http://` or `https://` address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let encrypted = text.strip_prefix("https://").map(|rest| (rest, true));
        let (rest, is_encrypted) = encrypted
            .or_else(|| text.strip_prefix("http://").map(|rest| (rest, false)))
            .ok_or_else(|| format!("{text:?} is no address; expected for example http://localhost:11434/v1#model"))?;
        let (rest, model) = match rest.split_once('#') {
            Some((rest, model)) => (rest, Some(model.trim().to_owned()).filter(|model| !model.is_empty())),
            None => (rest, None),
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, "v1"));
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter);
        if host.is_empty() || !host.chars().all(is_plain) {
            return Err(format!("{host:?} is no host; expected for example localhost:11434"));
        }
        if path.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(format!("{path:?} is no path"));
        }
        let path = path.trim_end_matches('/').trim_end_matches("chat/completions").trim_end_matches('/');
        let prefix = if path.is_empty() { "/v1".to_owned() } else { format!("/{path}") };
        let host = with_port(host, if is_encrypted { 443 } else { 80 });
        Ok(Self { server: Server { host, is_encrypted, trust: Trust::System }, prefix, model })
    }

    /// The address for people, without the model.
    pub(super) fn url(&self) -> String {
        format!("{}://{}{}", if self.server.is_encrypted { "https" } else { "http" }, self.server.host, self.prefix)
    }
}

fn with_port(host: &str, usual: u16) -> String {
    let after_bracket = host.rsplit_once(']').map_or(host, |(_, after)| after);
    if after_bracket.contains(':') { host.to_owned() } else { format!("{host}:{usual}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn addresses_are_read_as_people_type_them() {
        for text in [
            "http://localhost:11434",
            " http://localhost:11434/ ",
            "http://localhost:11434/v1",
            "http://localhost:11434/v1/chat/completions",
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.url().as_str(), address.model), ("http://localhost:11434/v1", None), "{text}");
        }
        let address = Address::parse("http://[::1]:80/api/v2#qwen2.5:3b").unwrap();
        assert_eq!((address.url().as_str(), address.model.as_deref()), ("http://[::1]:80/api/v2", Some("qwen2.5:3b")));
        assert_eq!(Address::parse("http://box").unwrap().url(), "http://box:80/v1");
        assert_eq!(Address::parse("https://box/api#m").unwrap().url(), "https://box:443/api");
        assert_eq!(Address::parse("https://[::1]:8443").unwrap().url(), "https://[::1]:8443/v1");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "localhost",
            "ftp://x",
            "https://",
            "http://",
            "http://a b",
            "https://a b",
            "http://a\r\nHost: b",
            "http://a/b c",
        ] {
            assert!(Address::parse(text).is_err(), "{text:?}");
        }
    }
}
