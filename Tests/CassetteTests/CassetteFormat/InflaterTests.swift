@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct InflaterTests {
    private struct Result: Equatable {
        var status: InflateStatus
        var content: [UInt8] = []
        var header: GzipHeader?
        var consumed = 0
    }

    private func inflate(
        _ pieces: [ArraySlice<UInt8>], _ format: DeflateFormat, limits: InflateLimits = InflateLimits()
    ) -> Result {
        var inflater = Inflater(format: format, limits: limits)
        var result = Result(status: .needsMore)
        for piece in pieces {
            piece.withUnsafeBytes { _ = inflater.push($0) { result.content += $0 } }
        }
        result.status = inflater.finish()
        result.header = inflater.header
        result.consumed = inflater.consumed
        return result
    }

    private func problem(_ bytes: [UInt8], _ format: DeflateFormat = .gzip) -> InflateProblem? {
        guard case .failed(let problem) = self.inflate([bytes[...]], format).status else { return nil }
        return problem
    }

    /// Printed by name instead of by its bytes.
    struct Stream: CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        var format: DeflateFormat = .gzip
        var headerSize = 10
    }

    private static let streams = [
        Stream(testDescription: "gzip -1", bytes: CodingFixtures.gzip1), Stream(testDescription: "gzip -6", bytes: CodingFixtures.gzip6),
        Stream(testDescription: "gzip -9", bytes: CodingFixtures.gzip9),
        Stream(testDescription: "gzip with a name", bytes: CodingFixtures.gzipNamed, headerSize: 21),
        Stream(testDescription: "gzip of Node", bytes: CodingFixtures.gzipNode),
        Stream(testDescription: "zlib of Python", bytes: CodingFixtures.zlib, format: .zlib, headerSize: 0),
        Stream(testDescription: "raw deflate of Node", bytes: CodingFixtures.rawNode, format: .raw, headerSize: 0),
    ]

    @Test(arguments: streams) func realStreamsInflateHoweverTheyAreSplit(_ expected: Stream) {
        let (stream, format, headerSize) = (expected.bytes, expected.format, expected.headerSize)
        for split in 0...stream.count {
            let result = self.inflate([stream[..<split], stream[split...]], format)
            #expect(result.status == .ended)
            #expect(result.content == CodingFixtures.content)
            #expect(result.consumed == stream.count)
            #expect(result.header?.bytes.count ?? 0 == headerSize)
        }
        let single = self.inflate(stream.indices.map { stream[$0...$0] }, format)
        #expect(single == self.inflate([stream[...]], format))
    }

    @Test(arguments: streams) func everyTruncationIsReportedWithItsOffset(_ stream: Stream) {
        for length in 0..<stream.bytes.count {
            let problem = self.problem(Array(stream.bytes[..<length]), stream.format)
            #expect(problem?.kind == .truncated)
            #expect(problem?.offset == length)
        }
    }

    @Test func bytesAfterTheStreamAreNotConsumed() {
        let result = self.inflate([(CodingFixtures.gzip6 + Array("more".utf8))[...]], .gzip)
        #expect(result.status == .ended)
        #expect(result.consumed == CodingFixtures.gzip6.count)
    }

    @Test func wrongChecksumAndLengthAreDistinguished() {
        var stream = CodingFixtures.gzip6
        stream[stream.count - 8] ^= 1
        #expect(self.problem(stream) == InflateProblem(.wrongChecksum, offset: stream.count - 8, reason: "wrong gzip checksum"))
        stream = CodingFixtures.gzip6
        stream[stream.count - 1] ^= 1
        #expect(self.problem(stream) == InflateProblem(.wrongLength, offset: stream.count - 4, reason: "wrong gzip length"))
    }

    @Test func textInsteadOfGzipIsReportedAtItsFirstByte() {
        #expect(self.problem(Array("plain".utf8))?.description == "no gzip header at offset 0")
    }

    @Test func aPresetDictionaryIsUnsupported() {
        #expect(self.problem([0x78, 0xbb, 0, 0, 0, 1, 0, 0], .zlib)?.kind == .unsupported)
    }

    @Test func anyDamageIsAResult() {
        var generator = CodingFixtures.Generator(seed: 1)
        for (stream, format) in Self.streams.map({ ($0.bytes, $0.format) }) {
            for _ in 0..<300 {
                var damaged = stream
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
                let whole = self.inflate([damaged[...]], format)
                let split = Int.random(in: 0...damaged.count, using: &generator)
                #expect(self.inflate([damaged[..<split], damaged[split...]], format).status == whole.status)
                if format != .raw, whole.status == .ended { #expect(whole.content == CodingFixtures.content) }
            }
        }
    }

    @Test func outputStopsAtItsLimit() {
        let stream = CodingFixtures.deflated([UInt8](repeating: 65, count: 200_000), DeflateParameters(level: 6), .zlib)
        let result = self.inflate([stream[...]], .zlib, limits: InflateLimits(output: 100_000))
        guard case .failed(let problem) = result.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooLong)
        #expect(result.content.count <= 100_000)
    }

    @Test func aGibibyteOfZerosPassesInPieces() {
        var inflater = Inflater(format: .raw, limits: InflateLimits(output: .max, ratio: .max))
        var largest = 0
        CodingFixtures.mebibyteOfZeros.withUnsafeBytes { coded in
            for _ in 0..<1024 { inflater.push(coded) { largest = max(largest, $0.count) } }
        }
        [UInt8]([3, 0]).withUnsafeBytes { _ = inflater.push($0) { _ in } }
        #expect(inflater.status == .ended)
        #expect(inflater.produced == 1 << 30)
        #expect(largest <= Inflater.pieceSize)
    }

    @Test func theDensestBombEndsSoonAfterTheFloor() {
        let stream = CodingFixtures.deflated([UInt8](repeating: 0, count: 8 << 20), DeflateParameters(level: 9), .gzip)
        var inflater = Inflater(format: .gzip)
        _ = stream.withUnsafeBytes { inflater.push($0) { _ in } }
        guard case .failed(let problem) = inflater.status else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooDense)
        #expect(inflater.produced < 3 << 20)
    }

    @Test func aRestartedInflaterForgetsTheOldStream() {
        var inflater = Inflater(format: .gzip)
        CodingFixtures.gzip6.prefix(50).withUnsafeBytes { _ = inflater.push($0) { _ in } }
        for (stream, format) in Self.streams.map({ ($0.bytes, $0.format) }) {
            var content: [UInt8] = []
            inflater.restart(format: format)
            _ = stream.withUnsafeBytes { inflater.push($0) { content += $0 } }
            #expect(inflater.status == .ended)
            #expect(content == CodingFixtures.content)
        }
    }

    @Test func anErrorOfTheReceiverIsPassedOn() {
        struct Stop: Error {}
        var inflater = Inflater(format: .gzip)
        #expect(throws: Stop.self) {
            try CodingFixtures.gzip6.withUnsafeBytes { _ = try inflater.push($0) { _ in throw Stop() } }
        }
    }
}

@Suite struct DeflateFormatTests {
    @Test(arguments: [(DeflateFormat.gzip, "gz"), (.zlib, "zz"), (.raw, "deflate")])
    func theExtensionIsTheOneThatToolsKnow(format: DeflateFormat, name: String) {
        #expect(format.fileExtension == name)
    }

    @Test func extensionsTellFormatsApartAndAreSafeInAFileName() {
        #expect(Set(DeflateFormat.allCases.map(\.fileExtension)).count == DeflateFormat.allCases.count)
        for format in DeflateFormat.allCases {
            #expect(format.fileExtension.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        }
    }
}

@Suite struct InflateLimitsTests {
    @Test func memoryGetsTheDefaults() {
        let limits = InflateLimits()
        #expect(limits.output == 64 << 20)
        #expect(limits.ratio == 1000)
    }

    @Test(arguments: [(0, 64 << 20), (1, 64 << 20), (671_088, 64 << 20), (671_089, 67_108_900), (1 << 20, 100 << 20)])
    func aFileMayBeAHundredTimesItsCodedSizeAndAlways64MiB(codedSize: Int, output: Int) {
        #expect(InflateLimits.file(codedSize: codedSize) == InflateLimits(output: output, ratio: 1000))
    }

    @Test(arguments: [Int.max, .max / 100 + 1])
    func aSizePastAllReasonDoesNotOverflow(codedSize: Int) {
        #expect(InflateLimits.file(codedSize: codedSize).output == .max)
    }

    @Test func theLargestSizeThatCanBeMultipliedIs() {
        #expect(InflateLimits.file(codedSize: .max / 100).output == .max / 100 * 100)
    }

    @Test func theOutputIsLookedAtAlwaysAndTheRatioAboveItsFloor() {
        let limits = InflateLimits(output: 3 << 20, ratio: 10)
        #expect(limits.problem(produced: 1 << 20, consumed: 1) == nil)
        #expect(limits.problem(produced: 1 << 20 + 1, consumed: 1)?.kind == .tooDense)
        #expect(limits.problem(produced: 3 << 20, consumed: 1 << 20) == nil)
        #expect(
            limits.problem(produced: 3 << 20 + 1, consumed: 1 << 20)
                == InflateProblem(.tooLong, offset: 1 << 20, reason: "decoded body longer than 3145728 bytes"))
    }
}

@Suite struct InflateProblemTests {
    @Test func theDescriptionSaysWhatAndWhere() {
        let problem = InflateProblem(.corrupt, offset: 12, reason: "invalid block type")
        #expect("\(problem)" == "invalid block type at offset 12")
    }

    @Test func theKindIsPartOfTheIdentity() {
        #expect(InflateProblem(.tooLong, offset: 1, reason: "x") != InflateProblem(.tooDense, offset: 1, reason: "x"))
    }
}
