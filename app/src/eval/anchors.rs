//! What others published on the excerpt-labelled set, so that a table of ours can stand beside it.

/// One published row (Smith & Troynikov 2024, all-MiniLM-L6-v2, 5 chunks retrieved by vectors). Percentages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The splitter with its size and overlap in tokens.
    pub name: &'static str,
    /// Mean recall.
    pub recall: f64,
    /// Mean precision.
    pub precision: f64,
    /// Mean precision-omega.
    pub precision_omega: f64,
    /// Mean `IoU`.
    pub iou: f64,
}

/// The published rows.
pub const ANCHORS: [Anchor; 6] = [
    anchor("recursive 250/125", [78.7, 4.9, 21.9, 4.9]),
    anchor("token 250/125", [82.4, 3.6, 11.4, 3.5]),
    anchor("recursive 250/0", [78.5, 5.4, 26.7, 5.4]),
    anchor("recursive 200/0", [75.7, 6.5, 31.2, 6.5]),
    anchor("cluster-semantic 250", [77.3, 6.1, 28.6, 6.0]),
    anchor("cluster-semantic 200", [75.2, 7.2, 33.6, 7.2]),
];

const fn anchor(name: &'static str, [recall, precision, precision_omega, iou]: [f64; 4]) -> Anchor {
    Anchor { name, recall, precision, precision_omega, iou }
}
