import CassetteFormat
import CassetteModel
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing

/// Exchanges whose bodies keep all processors busy.
enum CodedExchanges {
    /// Coded bodies with and without secrets: some secrets are known from other bodies, and some repeat.
    static func sixty() throws -> [TapedExchange] {
        var generator = SeededGenerator(seed: 12)
        var tokens: [String] = []
        return try (1...60).map { id in
            var text = "{\"text\":\"" + (0..<500).map { _ in String(generator.next(), radix: 36) }.joined() + "\""
            if id % 9 == 0 {
                tokens.append("kT7-pQ2x\(generator.next())V9mZ4w")
                text += ",\"access_token\":\"\(tokens[tokens.count - 1])\""
            }
            if id % 4 == 0, let token = tokens.randomElement(using: &generator) { text += ",\"said\":\"\(token)\"" }
            let content = Array((id % 6 == 0 ? String(repeating: "the same ", count: 9000) : text + "}").utf8)
            let wire = try #require(content.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
            let more = id % 10 == 0 ? ["X-Api-Key: k\(generator.next())"] : []
            return TapedExchanges.exchange(id, fields: ["Content-Type: application/json", "Content-Encoding: gzip"] + more, body: wire)
        }
    }
}
