//! PDF files with the lines that a test wants on their pages.

/// A PDF of pages of 12-point lines from the top downwards; `catalog` goes into its root.
pub fn pdf(pages: &[Vec<String>], catalog: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    let mut add = |body: String| {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{body}\nendobj\n", offsets.len()).as_bytes());
    };
    add(format!("<</Type/Catalog/Pages 2 0 R{catalog}>>"));
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    add(format!("<</Type/Pages/Count {}/Kids[{}]>>", pages.len(), kids.join(" ")));
    add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned());
    for (page, lines) in pages.iter().enumerate() {
        let font = "/Resources<</Font<</F 3 0 R>>>>";
        add(format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]{font}/Contents {} 0 R>>", 5 + 2 * page));
        let text = format!("BT /F 12 Tf 70 760 Td ({}) Tj ET", lines.join(") Tj 0 -16 Td ("));
        add(format!("<</Length {}>>stream\n{text}\nendstream", text.len()));
    }
    let start = bytes.len();
    let mut xref = format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1);
    xref.extend(offsets.iter().map(|offset| format!("{offset:010} 00000 n \n")));
    bytes.extend_from_slice(xref.as_bytes());
    let size = offsets.len() + 1;
    bytes.extend_from_slice(format!("trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").as_bytes());
    bytes
}
