import Testing

@testable import CassetteFormat
@testable import CassetteModel

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
        #expect(gzip.coding([parameters]) == .gzip(parameters, header: .plain))
        #expect(gzip.fileExtension == "gz" && gzip.mayBeRestored && gzip.note == nil && gzip.problem == nil)
        #expect(self.layer(.deflate, .zlib, CodingFixtures.zlib).coding(nil) == .deflate(nil))
        #expect(self.layer(.deflate, .raw, CodingFixtures.rawNode).coding(nil) == .rawDeflate(nil))
    }

    @Test func membersAreReportedUpToTheLimit() {
        let two = self.layer(.gzip, .gzip, CodingFixtures.gzip6 + CodingFixtures.gzipNamed)
        #expect(two.mayBeRestored)
        #expect(two.members.map(\.codedSize) == [202, CodingFixtures.gzipNamed.count] && two.members.map(\.size) == [713, 713])
        let parameters = [DeflateParameters(level: 6), DeflateParameters(level: 9)]
        guard case .gzipMembers(let members) = two.coding(parameters), let header = two.members.last?.header else {
            return #expect(Bool(false))
        }
        #expect(members.map(\.parameters) == parameters && members.map(\.size) == [713, nil] && members.map(\.header) == [.plain, header])
        #expect(two.coding(nil) == .gzip(nil, header: .plain))
        let many = self.layer(.gzip, .gzip, Array(repeating: CodingFixtures.gzip6, count: GzipMember.limit + 1).flatMap { $0 })
        #expect(!many.mayBeRestored)
    }

    @Test func bytesAfterAreReportedAndDoubtedWhereNothingProvesTheStream() {
        let gzip = self.layer(.gzip, .gzip, CodingFixtures.gzip6 + [7])
        #expect(gzip.note == "1 byte follows the gzip stream at offset 202")
        #expect(gzip.problem == nil && !gzip.mayBeRestored)
        let raw = self.layer(.deflate, .raw, CodingFixtures.rawNode + [7, 7])
        #expect(raw.problem == InflateProblem(.corrupt, offset: 184, reason: "2 bytes follow the raw stream"))
    }
    #if CODINGS
    @Test func bytesAfterBrotliAreDoubtedToo() {
        let decoder = BrotliDecoder()
        (CodingFixtures.brotli5 + [7]).withUnsafeBytes { _ = decoder.push($0) { _ in } }
        let layer = DecodedLayer(.br, decoder, leftOver: 1)
        let reason = "1 byte follows the br stream"
        #expect(layer.problem == InflateProblem(.corrupt, offset: CodingFixtures.brotli5.count, reason: reason))
    }
    #endif
}
