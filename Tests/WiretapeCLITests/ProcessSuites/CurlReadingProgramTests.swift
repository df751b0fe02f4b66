#if os(Linux)
import Testing

@testable import ClientCapabilities

@Suite struct CurlReadingProgramTests {
    /// The program of the same package describes the same library.
    @Test(.enabled(if: Programs.isInstalled("curl"), "curl is not installed")) func libraryReportsTheSameAsItsProgram() throws {
        guard let facts = CurlReading.facts() else { return }
        let text = try ExternalProgram.run(try Programs.find("curl"), ["-q", "--version"]).outputText
        #expect(text.contains("libcurl/\(facts.version)"), "\(facts.version) is not in \(text)")
        let protocols = try #require(text.split(separator: "\n").first { $0.hasPrefix("Protocols:") })
        // The program omits variants of RTMP.
        #expect(facts.protocols.isSuperset(of: protocols.split(separator: " ").dropFirst().map(String.init)))
        #expect(!facts.protocols.contains("nonsense") && facts.protocols.count < 64)
        #expect(facts.hasHTTP2 == text.contains("HTTP2"))
        let features = try #require(text.split(separator: "\n").first { $0.hasPrefix("Features:") }).split(separator: " ")
        for (coding, feature) in ["gzip": "libz", "deflate": "libz", "br": "brotli", "zstd": "zstd"] {
            #expect(facts.contentCodings.contains(coding) == features.contains(Substring(feature)), "\(coding)")
        }
    }
}
#endif
