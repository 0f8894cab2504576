use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", "extract"] => outcrop::worker::serve_extract(),
        _ => ExitCode::from(2),
    }
}
