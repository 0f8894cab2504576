//! Mail through mail-parser: one message (EML) or a mailbox of them (MBOX), each a section with its head, its text
//! and the names of what is attached.

use mail_parser::{Addr, Address, Message, MessageParser, MimeHeaders, PartType};

use super::html::append;
use super::sections::SectionWriter;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, SpanPlace, TextBuilder};

/// What the errors call this format.
const FORMAT: &str = "mail";
/// Messages attached to messages; deeper ones are named only.
const DEEPEST_MESSAGE: usize = 8;

/// Reads `bytes` as one message, or as a mailbox if that is how they start.
pub(super) fn read(bytes: &[u8], limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut built = TextBuilder::new(limits);
    let messages = split_mailbox(bytes);
    let is_mailbox = messages.len() > 1;
    let mut unread = 0;
    for (message, number) in messages.iter().zip(1..) {
        let Some(message) = MessageParser::default().parse(message).filter(|message| !message.headers().is_empty())
        else {
            unread += 1;
            continue;
        };
        built.break_paragraph();
        let start = built.len();
        add_metadata(&mut built.metadata, &message);
        built = push_message(built, &message, DEEPEST_MESSAGE)?;
        if is_mailbox {
            built.mark(start, SpanPlace::Row(number));
        } else {
            built.title = message.subject().map(str::to_owned);
        }
    }
    if built.len() == 0 && unread > 0 {
        return Err(ExtractError::damaged(FORMAT, "it has no head with a sender, a date or a subject"));
    }
    if unread > 0 {
        built.note(format!("{unread} of its {} messages could not be read.", messages.len()));
    }
    built.finish(DocumentKind::Mail)
}

/// The messages of a mailbox: each begins at a line `From sender date` after an empty line.
fn split_mailbox(bytes: &[u8]) -> Vec<&[u8]> {
    if !is_mailbox_line(bytes) {
        return vec![bytes];
    }
    let mut messages = Vec::new();
    let mut start = 0;
    for at in starts_after_blank_lines(bytes) {
        if is_mailbox_line(&bytes[at..]) {
            messages.push(after_line(&bytes[start..at]));
            start = at;
        }
    }
    messages.push(after_line(&bytes[start..]));
    messages
}

/// Where a line begins after an empty one.
fn starts_after_blank_lines(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.filter(|end| {
        let line = bytes[..end - 1].strip_suffix(b"\r").unwrap_or(&bytes[..end - 1]);
        line.ends_with(b"\n")
    })
}

/// Whether `bytes` begin with the line that opens a message: it names a sender and ends in a time and a year.
fn is_mailbox_line(bytes: &[u8]) -> bool {
    let Some(line) = bytes.strip_prefix(b"From ").and_then(|rest| rest.split(|byte| *byte == b'\n').next()) else {
        return false;
    };
    let line = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    let is_year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    line.contains(':') && line.split_whitespace().any(is_year)
}

fn after_line(message: &[u8]) -> &[u8] {
    let end = message.iter().position(|byte| *byte == b'\n').map_or(message.len(), |at| at + 1);
    &message[end..]
}

fn push_message(mut built: TextBuilder, message: &Message<'_>, depth: usize) -> Result<TextBuilder, ExtractError> {
    built.break_paragraph();
    let start = built.len();
    let mut section = SectionWriter::default();
    if depth == DEEPEST_MESSAGE {
        section.begin(&mut built, 1, message.subject().unwrap_or("(no subject)"), start);
    }
    push_head(&mut built, message)?;
    built.break_paragraph();
    built = push_body(built, message)?;
    push_attachments(&mut built, message)?;
    if depth > 0 {
        let attached = message.attachments().filter_map(|part| match &part.body {
            PartType::Message(inner) => Some(inner),
            _ => None,
        });
        for inner in attached {
            built = push_message(built, inner, depth - 1)?;
        }
    }
    section.finish(&mut built);
    Ok(built)
}

fn push_head(built: &mut TextBuilder, message: &Message<'_>) -> Result<(), ExtractError> {
    let lines = [
        ("Subject", message.subject().map(str::to_owned)),
        ("From", message.from().map(people)),
        ("To", message.to().map(people)),
        ("Cc", message.cc().map(people)),
        ("Date", message.date().map(|date| date.to_rfc3339().replace('T', " "))),
    ];
    for (name, value) in lines {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            built.push(&format!("{name}: {}\n", value.split_whitespace().collect::<Vec<_>>().join(" ")))?;
        }
    }
    Ok(())
}

fn add_metadata(metadata: &mut Metadata, message: &Message<'_>) {
    for (name, address) in [("from", message.from()), ("to", message.to())] {
        address.into_iter().flat_map(Address::iter).for_each(|address| metadata.add(name, &person(address)));
    }
    if let Some(date) = message.date() {
        metadata.add("sent", &date.to_rfc3339());
    }
}

fn people(address: &Address<'_>) -> String {
    address.iter().map(person).collect::<Vec<_>>().join(", ")
}

fn person(address: &Addr<'_>) -> String {
    match (address.name(), address.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    }
}

/// The text of a message; its HTML only where it has no plain text.
fn push_body(mut built: TextBuilder, message: &Message<'_>) -> Result<TextBuilder, ExtractError> {
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => built.push(text)?,
            PartType::Html(html) => {
                let start = built.len();
                built = append(built, html)?.0;
                built.forget_sections(start);
            }
            _ => {}
        }
        built.break_paragraph();
    }
    Ok(built)
}

fn push_attachments(built: &mut TextBuilder, message: &Message<'_>) -> Result<(), ExtractError> {
    let names: Vec<&str> =
        message.attachments().filter_map(|part| part.attachment_name().filter(|name| !name.is_empty())).collect();
    if !names.is_empty() {
        built.push(&format!("Attachments: {}\n", names.join(", ")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn read_text(source: &str) -> Extraction {
        read(source.as_bytes(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn plain_text_is_preferred_and_encodings_are_undone() {
        let extraction = read_text(
            "From: =?utf-8?q?J=C3=BCrgen?= <j@harbour.example>\r\nTo: Ada <ada@harbour.example>\r\n\
             Subject: =?iso-8859-1?Q?F=E4hre?= at seven\r\nDate: Tue, 3 Mar 2026 07:15:00 +0100\r\n\
             MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n\
             --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
             The f=C3=A4hre leaves =\r\nat seven.\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--b--\r\n",
        );
        assert_eq!(extraction.title.as_deref(), Some("Fähre at seven"));
        let head = "Subject: Fähre at seven\nFrom: Jürgen <j@harbour.example>\nTo: Ada <ada@harbour.example>\n";
        assert!(extraction.text.starts_with(head), "{}", extraction.text);
        assert!(extraction.text.contains("The fähre leaves at seven."), "{}", extraction.text);
        assert!(!extraction.text.contains("no"), "{}", extraction.text);
        let at = extraction.text.find("leaves").unwrap();
        assert_eq!(extraction.place(at..at + 1).heading, ["Fähre at seven"]);
    }

    #[test]
    fn a_mailbox_is_split_at_its_own_lines_only() {
        let extraction = read_text(
            "From a@x.example Tue Mar  3 07:15:00 2026\nSubject: one\n\nFrom the quay one sees 2 lights.\n\n\
             From here: nothing.\n\nFrom b@x.example Wed Mar  4 08:00:00 2026\nSubject: two\n\nsecond text\n",
        );
        let at = extraction.text.find("second text").unwrap();
        let place = extraction.place(at..at + 5);
        assert_eq!((place.heading, place.rows), (vec!["two".to_owned()], Some((2, 2))));
        let at = extraction.text.find("nothing").unwrap();
        assert_eq!(extraction.place(at..at + 5).heading, ["one"]);
    }
}
