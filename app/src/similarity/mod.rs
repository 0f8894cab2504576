//! What lies near what: the similarity of every chunk with every other as a picture, and a map of passages on which
//! like lies near like.
//!
//! Start at [`HeatMap::compute`] and [`Projection::compute`]; both can be stopped and both are safe for any number of
//! rows, none included. Must not know: documents, windows.

mod heat;
mod neighbours;
mod pca;
mod projection;
mod ramp;
mod umap;

pub use heat::HeatMap;
pub use projection::{MapLayout, Point, Projection};
pub use ramp::ramp;

/// The cosine of two rows; 0 where one has no direction.
pub fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let cosine = dot(left, right) / (dot(left, left) * dot(right, right)).sqrt();
    if cosine.is_finite() { cosine.clamp(-1.0, 1.0) as f32 } else { 0.0 }
}
