import Testing

@testable import TapeCore

struct DecodedLayerTests {
    private func layer(_ name: ContentEncoding.Name, _ format: DeflateFormat, _ wire: [UInt8]) -> DecodedLayer {
        let decoder = InflatingDecoder(format: format)
        wire.withUnsafeBytes { _ = decoder.push($0) { _ in } }
        decoder.finish()
        return DecodedLayer(name, decoder, leftOver: wire.count - decoder.consumed)
    }

    @Test func itBecomesTheCodingItIs() {
        let parameters = DeflateParameters(level: 3)
        let gzip = self.layer(.gzip, .gzip, CodingFixtures.gzip6)
        #expect(gzip.coding(parameters) == .gzip(parameters, header: .plain))
        #expect(gzip.fileExtension == "gz" && gzip.mayBeRestored && gzip.note == nil && gzip.problem == nil)
        #expect(self.layer(.deflate, .zlib, CodingFixtures.zlib).coding(nil) == .deflate(nil))
        #expect(self.layer(.deflate, .raw, CodingFixtures.rawNode).coding(nil) == .rawDeflate(nil))
    }

    @Test func severalMembersAreNotSearched() {
        #expect(!self.layer(.gzip, .gzip, CodingFixtures.gzip6 + CodingFixtures.gzip6).mayBeRestored)
    }

    @Test func octetsBehindAreToldAndDoubtedWhereNothingProvesTheStream() {
        let gzip = self.layer(.gzip, .gzip, CodingFixtures.gzip6 + [7])
        #expect(gzip.note == "1 octet follows the gzip stream at offset 202")
        #expect(gzip.problem == nil && !gzip.mayBeRestored)
        let raw = self.layer(.deflate, .raw, CodingFixtures.rawNode + [7, 7])
        #expect(raw.problem == InflateProblem(.corrupt, offset: 184, reason: "2 octets follow the raw stream"))
    }
}
