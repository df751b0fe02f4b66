//! Prints the body of a URL by ureq, with no settings of its own.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("no URL")?;
    let answer = ureq::get(&url).call()?;
    std::io::copy(&mut answer.into_reader(), &mut std::io::stdout())?;
    Ok(())
}
