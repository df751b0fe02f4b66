@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct DeflateRestorerTests {
    private func search(
        _ restorer: inout DeflateRestorer, _ wire: [UInt8], _ content: [UInt8], _ format: DeflateFormat = .gzip, origin: String = "o",
        identity: [UInt8]? = nil
    ) -> DeflateParameters? {
        var header: GzipHeader?
        if case .complete(let length) = wire.withUnsafeBytes(GzipHeader.parse), format == .gzip {
            header = GzipHeader(bytes: Array(wire[..<length]))
        }
        return wire.withUnsafeBytes { wire in
            content.withUnsafeBytes { content in
                restorer.parameters(
                    producing: wire, from: content, format: format, header: header, origin: origin, identity: identity ?? Array(wire))
            }
        }
    }

    @Test func realProducersAreFound() {
        let cases: [([UInt8], DeflateFormat, Int?)] = [
            (CodingFixtures.gzip1, .gzip, 1), (CodingFixtures.gzip6, .gzip, 6), (CodingFixtures.gzip9, .gzip, 9),
            (CodingFixtures.gzipNamed, .gzip, 6), (CodingFixtures.zlib, .zlib, 6), (CodingFixtures.gzipNode, .gzip, nil),
            (CodingFixtures.rawNode, .raw, nil), (CodingFixtures.gzipFlushed, .gzip, 6), (CodingFixtures.gzipGo, .gzip, nil),
        ]
        for (wire, format, level) in cases {
            var restorer = DeflateRestorer()
            let found = self.search(&restorer, wire, CodingFixtures.content, format)
            // Short content often comes out the same at several levels: only the bytes count.
            #expect((found == nil) == (level == nil))
            if let found, format != .gzip { #expect(CodingFixtures.deflated(CodingFixtures.content, found, format) == wire) }
        }
    }

    @Test(arguments: DeflateFormat.allCases) func randomParametersAreFound(_ format: DeflateFormat) {
        var generator = CodingFixtures.Generator(seed: 4)
        for size in [0, 1, 300, 5000, 30_000, 120_000] {
            let content = generator.text(size)
            for level in [1, 2, 3, 4, 5, 6, 7, 8, 9] {
                let wire = CodingFixtures.deflated(content, DeflateParameters(level: level), format)
                var restorer = DeflateRestorer()
                let found = self.search(&restorer, wire, content, format)
                #expect(found.map { CodingFixtures.deflated(content, $0, format) } == wire)
            }
        }
    }

    @Test(arguments: DeflateFormat.allCases) func flushesAreFoundWithTheParameters(_ format: DeflateFormat) {
        var generator = CodingFixtures.Generator(seed: 32)
        var restorer = DeflateRestorer()
        for level in [1, 4, 6, 9] {
            for size in [0, 500, 20_000, 100_000] {
                let content = generator.text(size)
                let flushes = (0...Int.random(in: 0...9, using: &generator)).map { $0 * size / 100 }
                // The first flush cannot be at the start, and two flushes at one position are one.
                let own = flushes.enumerated().filter { $0.offset == 0 || $0.element > 0 }.map(\.element)
                let wire = CodingFixtures.deflated(content, DeflateParameters(level: level, flushes: own), format)
                let found = self.search(&restorer, wire, content, format)
                #expect(found?.flushes == own)
                #expect(found.map { CodingFixtures.deflated(content, $0, format) } == wire)
                #expect(self.search(&restorer, wire, content, format) == found)
            }
        }
        let remembered = restorer.memory.parameters(for: "o").flatMap(\.flushes)
        #expect(remembered.isEmpty)
    }

    @Test func ofAMembersPartOfTheLimitNoMoreIsUsed() {
        var generator = CodingFixtures.Generator(seed: 33)
        let content = generator.text(50_000)
        var wire = CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip)
        wire[30] ^= 0xff
        var restorer = DeflateRestorer()
        let found = wire.withUnsafeBytes { wire in
            content.withUnsafeBytes {
                restorer.parameters(producing: wire, from: $0, format: .gzip, header: .plain, origin: "o", identity: [1], limit: 100_000)
            }
        }
        #expect(found == nil && restorer.work > 0 && restorer.work <= 100_000 + content.count)
    }

    @Test func aCandidateOfShortContentCostsMoreThanItsBytes() {
        var restorer = DeflateRestorer()
        let content = CodingFixtures.content
        let found = CodingFixtures.gzipNode.withUnsafeBytes { wire in
            content.withUnsafeBytes {
                restorer.parameters(producing: wire, from: $0, format: .gzip, header: .plain, origin: "o", identity: [1], limit: 32 << 10)
            }
        }
        #expect(found == nil && restorer.work > 0 && restorer.work <= 2 * content.count)
    }

    @Test func largeBodiesAreFoundFromAFile() throws {
        var generator = CodingFixtures.Generator(seed: 5)
        let content = generator.text(400_000)
        for (format, level) in [(DeflateFormat.gzip, 9), (.zlib, 6), (.raw, 1)] {
            var wire = CodingFixtures.deflated(content, DeflateParameters(level: level), format)
            var restorer = DeflateRestorer()
            let found = try restorer.parameters(
                producing: ByteSource(wire), contentSize: content.count, format: format, header: .plain, origin: "o", identity: [1])
            #expect(found == DeflateParameters(level: level))
            wire[wire.count - 20] ^= 1
            let damaged = try restorer.parameters(
                producing: ByteSource(wire), contentSize: content.count, format: format, header: .plain, origin: "o", identity: [2])
            #expect(damaged == nil)
        }
    }

    @Test func aStreamWithBytesAfterItIsNotReproduced() throws {
        let wire = CodingFixtures.gzip6 + [0]
        var restorer = DeflateRestorer()
        #expect(self.search(&restorer, wire, CodingFixtures.content) == nil)
        let streamed = try restorer.parameters(
            producing: ByteSource(wire), contentSize: 713, format: .gzip, header: .plain, origin: "o", identity: [1])
        #expect(streamed == nil)
    }

    @Test func anOriginsParametersAreTriedFirst() {
        var generator = CodingFixtures.Generator(seed: 6)
        let parameters = DeflateParameters(level: 7, memoryLevel: 9)
        var restorer = DeflateRestorer()
        var costs: [Int] = []
        for _ in 0..<3 {
            let content = generator.text(100_000)
            let before = restorer.work
            #expect(self.search(&restorer, CodingFixtures.deflated(content, parameters, .gzip), content) == parameters)
            costs.append(restorer.work - before - content.count)
        }
        #expect(costs[0] > 0)
        // Only candidates before them that may give the same bytes are tried besides.
        #expect(costs[1] < costs[0] && costs[2] < costs[0])
    }

    @Test func bytesSeenBeforeCostNothing() {
        var restorer = DeflateRestorer()
        for wire in [CodingFixtures.gzip6, CodingFixtures.gzipNode] {
            let first = self.search(&restorer, wire, CodingFixtures.content)
            let work = restorer.work
            #expect(self.search(&restorer, wire, CodingFixtures.content) == first)
            #expect(restorer.work == work)
        }
    }

    @Test func provedFindingIsNotTriedAgainAndChangesNothing() {
        var generator = CodingFixtures.Generator(seed: 8)
        let content = generator.text(50_000)
        let wire = CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip)
        var first = DeflateRestorer()
        first.memory.keepNews()
        let found = self.search(&first, wire, content)
        var proved = DeflateRestorer()
        for finding in first.memory.news ?? [] { proved.memory.proofs.learn(finding) }
        #expect(self.search(&proved, wire, content) == found && found != nil)
        #expect(proved.work < content.count)

        // The same bytes with another result: the search tries only its own candidates.
        var other = DeflateRestorer()
        other.memory.proofs.learn(
            RestorationMemory.Finding(origin: "o", identity: wire, parameters: DeflateParameters(level: 6, memoryLevel: 3)))
        #expect(self.search(&other, wire, content) == found)
        #expect(other.work >= content.count)
    }

    @Test func searchesThatFailAreBounded() {
        var generator = CodingFixtures.Generator(seed: 7)
        let content = generator.text(3 << 20)
        // Matches one candidate almost to the end.
        var wire = CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip)
        wire[wire.count - 20] ^= 1
        var restorer = DeflateRestorer()
        #expect(self.search(&restorer, wire, content) == nil)
        #expect(restorer.work <= DeflateRestorer.searchLimit + content.count + ByteSource.pieceSize)
    }

    @Test func contentThatGivesNothingToCompareIsBoundedToo() {
        // zlib buffers more than 4 MiB of zeros before it writes its first block.
        let content = [UInt8](repeating: 0, count: 6 << 20)
        var wire = CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip)
        wire[12] ^= 1
        var restorer = DeflateRestorer()
        #expect(self.search(&restorer, wire, content) == nil)
        #expect(restorer.work <= DeflateRestorer.searchLimit + ByteSource.pieceSize)
    }

    @Test func aFileThatGivesNothingToCompareIsBoundedToo() throws {
        let wire = Array(Array(repeating: CodingFixtures.mebibyteOfZeros, count: 6).joined()) + [3, 0]
        var restorer = DeflateRestorer()
        let found = try restorer.parameters(
            producing: ByteSource(wire), contentSize: 6 << 20, format: .raw, header: nil, origin: "o", identity: [1])
        #expect(found == nil)
        #expect(restorer.work <= DeflateRestorer.searchLimit + Inflater.pieceSize)
    }

    @Test func theLastAnswersAreKept() {
        var restorer = DeflateRestorer()
        var works: [Int] = []
        let numbers = Array(0..<RestorationMemory.findingLimit + 2)
        for number in numbers + numbers.reversed() {
            #expect(self.search(&restorer, CodingFixtures.gzip6, CodingFixtures.content, identity: [UInt8(number)]) != nil)
            works.append(restorer.work)
        }
        // Before the last two, every answer comes from the memo.
        #expect(works[works.count - 3] == works[numbers.count - 1] && works[works.count - 1] > works[works.count - 3])
    }

    /// A body whose parameters are far down the list is recorded alone, and after bodies of the same origin that help or hinder the search.
    @Test func whichParametersAreFoundDependsOnTheBodyAlone() {
        var generator = CodingFixtures.Generator(seed: 8)
        for size in [0, 20, 300, 5000, 12_000, 20_000, 50_000, 100_000, 400_000] {
            let content = generator.text(size)
            // The third one is that of Apache, whose short bodies have the same bytes with the default memory.
            for (level, memory, window) in [(6, 8, 15), (4, 8, 15), (6, 9, 15), (7, 9, 15), (8, 9, 15), (6, 3, 15), (1, 8, 9)] {
                let parameters = DeflateParameters(level: level, memoryLevel: memory, windowBits: window)
                let wire = CodingFixtures.deflated(content, parameters, .gzip)
                var alone = DeflateRestorer()
                let found = self.search(&alone, wire, content)
                for histories in [[parameters], [DeflateParameters(level: 2), DeflateParameters(level: 3)], []] {
                    var restorer = DeflateRestorer()
                    for known in histories { restorer.memory.found(known, for: "o") }
                    for _ in 0..<(histories.isEmpty ? 5 : 0) { restorer.memory.missed(for: "o") }
                    #expect(self.search(&restorer, wire, content) == found, "\(size) \(level) \(memory) \(window) \(histories)")
                }
            }
        }
    }

    /// Go's streams are recognized by their end, so nothing is tried.
    @Test func streamsOfGoAreNotSearched() {
        var restorer = DeflateRestorer()
        #expect(self.search(&restorer, CodingFixtures.gzipGo, CodingFixtures.content) == nil)
        #expect(restorer.work == 0)
    }
}

struct RestorationMemoryTests {
    private let six = DeflateParameters(level: 6)
    private let nine = DeflateParameters(level: 9)

    @Test func theLatestParametersComeFirst() {
        var memory = RestorationMemory()
        memory.found(self.six, for: "a")
        memory.found(self.nine, for: "a")
        #expect(memory.parameters(for: "a") == [self.nine, self.six])
        memory.found(self.six, for: "a")
        #expect(memory.parameters(for: "a") == [self.six, self.nine])
        #expect(memory.parameters(for: "b").isEmpty)
    }

    @Test func fewParametersAreKeptOfEachOrigin() {
        var memory = RestorationMemory()
        for level in 1...9 { memory.found(DeflateParameters(level: level), for: "a") }
        #expect(memory.parameters(for: "a").map(\.level) == [9, 8, 7])
    }

    @Test func theOriginNotHeardOfLongestIsForgotten() {
        var memory = RestorationMemory()
        for index in 0..<RestorationMemory.originLimit { memory.found(self.six, for: "origin \(index)") }
        memory.found(self.nine, for: "origin 0")
        memory.found(self.six, for: "new")
        #expect(memory.parameters(for: "origin 0") == [self.nine, self.six])
        #expect(memory.parameters(for: "origin 1").isEmpty)
        #expect(memory.parameters(for: "new") == [self.six])
    }
}
