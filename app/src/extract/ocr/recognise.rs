//! What a line says: the recogniser gives each step along the line the probability of each character, and steps that
//! repeat one or are none are taken out.

use ort::session::Session;
use ort::value::TensorRef;

use super::picture::Picture;

/// Height of a line as the recogniser sees it.
const HEIGHT: usize = 48;
/// Least and most width of it.
const NARROWEST: usize = 320;
const WIDEST: usize = 3200;

/// The characters that the recogniser knows, by class: none at first, the space at last.
pub(super) fn characters(recogniser: &Session) -> Result<Vec<String>, String> {
    let metadata = recogniser.metadata().map_err(|err| format!("the model for lines says nothing of itself: {err}"))?;
    let list = metadata.custom("character").ok_or("the model for lines does not say which characters it knows")?;
    let known = list.lines().map(str::to_owned);
    Ok(std::iter::once(String::new()).chain(known).chain([" ".to_owned()]).collect())
}

/// The text of a line and the mean probability of its characters.
pub(super) fn line(recogniser: &mut Session, characters: &[String], picture: &Picture) -> ort::Result<(String, f32)> {
    let width = (picture.width * HEIGHT).div_ceil(picture.height.max(1)).clamp(1, WIDEST);
    let padded = width.max(NARROWEST);
    let tensor = picture.scaled(width, HEIGHT).tensor(padded);
    let input = TensorRef::from_array_view(([1_usize, 3, HEIGHT, padded], tensor.as_slice()))?;
    let outputs = recogniser.run(ort::inputs![input])?;
    let (shape, probabilities) = outputs[0].try_extract_tensor::<f32>()?;
    let classes = shape.last().and_then(|classes| usize::try_from(*classes).ok()).unwrap_or(0);
    Ok(decode(probabilities, classes, characters))
}

fn decode(probabilities: &[f32], classes: usize, characters: &[String]) -> (String, f32) {
    let (mut text, mut sum, mut count) = (String::new(), 0.0, 0_usize);
    let mut last = 0;
    for step in probabilities.chunks_exact(classes.max(1)) {
        let best = step.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((class, probability)) = best else { break };
        if class != last && class != 0 {
            text.push_str(characters.get(class).map_or("", String::as_str));
            sum += probability;
            count += 1;
        }
        last = class;
    }
    (text, sum / count.max(1) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_one_character_unless_something_is_between_them() {
        let characters = ["", "a", "b"].map(str::to_owned);
        let step = |class: usize| std::array::from_fn::<f32, 3, _>(|other| if other == class { 0.8 } else { 0.1 });
        let steps: Vec<f32> = [1, 1, 0, 1, 2, 2, 0].into_iter().flat_map(step).collect();
        let (text, confidence) = decode(&steps, 3, &characters);
        assert_eq!(text, "aab");
        assert!((confidence - 0.8).abs() < 1e-6);
    }
}
