//! The properties of documents under the names that [`Metadata`] has for them, whatever each format calls them.

use super::Metadata;
use super::xml::for_each_text;

/// Adds what a document of XML calls its properties: the elements of Dublin Core, and those of the Office formats and
/// of OpenDocument that say the same. `date` is the name for what Dublin Core calls a date.
pub(super) fn add_dublin_core(metadata: &mut Metadata, xml: &str, date: &str) {
    for_each_text(xml, |element, _, text| add(metadata, element, text, date));
}

/// Adds the properties that people gave names of their own: elements with a `name`, around or in which the value stands.
pub(super) fn add_named(metadata: &mut Metadata, xml: &str) {
    for_each_text(xml, |_, name, text| {
        if let Some(name) = name {
            metadata.add(name, text);
        }
    });
}

/// Adds a property by the name that its format has for it; nothing where that is none that people search by.
pub(super) fn add(metadata: &mut Metadata, name: &str, value: &str, date: &str) {
    let lower = name.to_lowercase();
    // `dc.creator`, `DCTERMS.created`, `article:published_time`.
    let plain = lower.rsplit(['.', ':']).next().unwrap_or_default();
    let name = match plain {
        "author" | "creator" | "initial-creator" => "author",
        "keyword" | "keywords" | "tag" => {
            value.split([',', ';']).for_each(|keyword| metadata.add("keyword", keyword));
            return;
        }
        "subject" | "language" | "publisher" | "category" | "description" => plain,
        "created" | "creation-date" | "creationdate" => "created",
        "modified" | "modified_time" | "modificationdate" => "modified",
        "published_time" | "issued" => "published",
        "date" => date,
        _ => return,
    };
    metadata.add(name, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_name_the_same_things_differently() {
        let xml = r"<p:props><dc:creator>Ada</dc:creator><cp:keywords>tides; harbour, boats</cp:keywords>
            <dcterms:created>2024-01-31T09:00:00Z</dcterms:created><dc:date>2025-02-01</dc:date>
            <cp:revision>7</cp:revision><dc:subject/><dc:language>de</dc:language></p:props>";
        let mut metadata = Metadata::default();
        add_dublin_core(&mut metadata, xml, "published");
        for (name, expected) in [
            ("author", vec!["Ada"]),
            ("keyword", vec!["tides", "harbour", "boats"]),
            ("created", vec!["2024-01-31"]),
            ("published", vec!["2025-02-01"]),
            ("language", vec!["de"]),
            ("revision", vec![]),
            ("subject", vec![]),
        ] {
            assert_eq!(metadata.values(name), expected, "{name}");
        }
    }

    #[test]
    fn names_that_people_gave_are_found_around_the_value_or_on_it() {
        let mut metadata = Metadata::default();
        add_named(
            &mut metadata,
            r#"<P><property name="Project"><vt:lpwstr>Harbour &amp; quay</vt:lpwstr></property></P>"#,
        );
        add_named(&mut metadata, r#"<m><meta:user-defined meta:name="Budget">1200</meta:user-defined><x>no</x></m>"#);
        assert_eq!(metadata.values("project"), ["Harbour & quay"]);
        assert_eq!(metadata.values("budget"), ["1200"]);
        assert_eq!(metadata.iter().count(), 2);
    }
}
