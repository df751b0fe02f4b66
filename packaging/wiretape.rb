# A formula for Homebrew. It has not been run: there is no macOS where this project is tested.
class Wiretape < Formula
  desc "Record HTTP traffic into a readable cassette and play it back"
  homepage "https://example.test/wiretape"
  url "https://example.test/wiretape.git", tag: "v0.2.0"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on xcode: ["16.3", :build]
  depends_on "brotli"
  depends_on "curl"
  depends_on "libdeflate"
  depends_on "libnghttp2"
  depends_on "libyaml"
  depends_on "openssl@3"
  depends_on "zstd"

  def install
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "wiretape"
    bin.install ".build/release/wiretape"
    generate_completions_from_executable(bin/"wiretape", "--generate-completion-script")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/wiretape --version")
  end
end
