//! svg
/// Temp
pub struct BoundaryPlot<'a> {
    /// t
    pub title: &'a str,
    /// t
    pub text: &'a str,
    /// t
    pub chunking: &'a super::Chunking,
    /// t
    pub unit: super::Unit,
}
impl BoundaryPlot<'_> {
    /// t
    pub fn to_svg(&self) -> String {
        format!("{}{}{:?}", self.title, self.text.len(), self.unit)
    }
}
