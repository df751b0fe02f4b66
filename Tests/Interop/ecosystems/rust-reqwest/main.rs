//! Prints the body of a URL by reqwest, with no settings of its own.
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?;
    let body = reqwest::blocking::get(url)?.error_for_status()?.bytes()?;
    std::io::stdout().write_all(&body)?;
    Ok(())
}
