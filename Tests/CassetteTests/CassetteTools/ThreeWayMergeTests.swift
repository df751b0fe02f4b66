import CassetteFormat
import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteTools

@Suite struct ThreeWayMergeTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func merge(_ base: [Interaction]?, _ ours: [Interaction], _ theirs: [Interaction]) throws -> (
        ThreeWayMerge.Outcome, [Interaction]
    ) {
        for (name, list) in [("base.json", base ?? []), ("ours.json", ours), ("theirs.json", theirs)] {
            if self.folder.exists(name) { try CassettePlace.remove(self.folder.file(name)) }
            try RecordedExchanges.write(list, to: self.folder.file(name))
        }
        let outcome = try ThreeWayMerge.merge(
            base: base == nil ? nil : self.folder.file("base.json"), ours: self.folder.file("ours.json"),
            theirs: self.folder.file("theirs.json"))
        try self.folder.write(outcome.text, to: "out.json")
        return (outcome, try RecordedExchanges.read(self.folder.file("out.json")))
    }

    @Test func bothSidesAddAnExchangeWithTheSameId() throws {
        let base = [Interaction.sample(1, at: 0)]
        let connection = ConnectionInfo(id: 7, remote: "a:1", isReused: false)
        var (one, other) = (Interaction.sample(2, at: 20, "GET", "http://a/one"), Interaction.sample(2, at: 10, "GET", "http://a/other"))
        (one.connection, other.connection) = (connection, connection)
        let (outcome, merged) = try self.merge(base, base + [one], base + [other])
        #expect(outcome.conflicts == [])
        #expect(merged.map(\.request.url) == ["http://a/pets", "http://a/other", "http://a/one"])
        #expect(merged.map(\.id) == [1, 2, 3])
        // Two connections that have the same number on both sides are two.
        #expect(Set(merged.compactMap { $0.connection?.id }).count == 2)
    }

    @Test func editAndRemovalAreTakenFromTheirSide() throws {
        let base = (1...3).map { Interaction.sample($0, at: Int64($0)) }
        var ours = base
        ours[0].response?.status = 201
        let (outcome, merged) = try self.merge(base, ours, [base[0], base[2]])
        #expect(outcome.conflicts == [])
        #expect(merged.map { $0.response?.status } == [201, 200])
    }

    @Test func bothSidesOfAConflictStayWithANote() throws {
        let base = [Interaction.sample(1)]
        var (ours, theirs) = (base, base)
        ours[0].response?.status = 201
        theirs[0].response?.status = 202
        let (outcome, merged) = try self.merge(base, ours, theirs)
        #expect(outcome.conflicts.count == 1)
        #expect(Set(merged.compactMap { $0.response?.status }) == [201, 202])
        #expect(Set(merged.map(\.id)).count == 2)
        var findings: [CareFinding] = []
        try CassetteVerifier(path: self.folder.file("out.json")).run { findings.append($0) }
        #expect(findings.filter(\.isProblem).count == 2)
    }

    @Test func removalOfWhatTheOtherSideChangedIsAConflict() throws {
        let base = [Interaction.sample(1), .sample(2, at: 5)]
        var theirs = base
        theirs[0].response?.status = 500
        let (outcome, merged) = try self.merge(base, [base[1]], theirs)
        #expect(outcome.conflicts.count == 1)
        #expect(merged.count == 2)
    }

    @Test func cassetteThatBothSidesCreatedIsMerged() throws {
        let shared = Interaction.sample(1)
        let (outcome, merged) = try self.merge(nil, [shared, .sample(2, at: 9)], [shared, .sample(2, at: 4)])
        #expect(outcome.conflicts == [])
        #expect(merged.map(\.id) == [1, 2, 3] || Set(merged.map(\.id)).count == 3)
        #expect(merged.map(\.started) == merged.map(\.started).sorted())
    }

    @Test func exchangeThatBothSidesAddedHasTheSameIdWhicheverSideIsMerged() throws {
        let base = [Interaction.sample(1)]
        func shared(_ id: Int) -> Interaction { .sample(id, at: 50, "GET", "http://a/shared") }
        let (ours, theirs) = (base + [shared(2)], base + [.sample(2, at: 20, "GET", "http://a/theirs"), shared(3)])
        let (outcome, merged) = try self.merge(base, ours, theirs)
        #expect(merged.map(\.request.url) == ["http://a/pets", "http://a/theirs", "http://a/shared"])
        #expect(try self.merge(base, theirs, ours).0.text == outcome.text)
    }

    /// Two branches that add, change and remove exchanges at random.
    @Test func randomHistoriesKeepEveryExchangeOnce() throws {
        for seed in 1...200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
            let base = (0..<number(0..<8)).map {
                Interaction.sample($0 + 1, at: Int64($0 * 100 + number(0..<50)), "GET", "http://a/base/\($0)")
            }
            var sides = [base, base]
            var touched: [Set<Int>] = [[], []]
            var shared: [Interaction] = []
            for index in 0..<number(0..<3) {
                shared.append(.sample(50 + index, at: Int64(number(0..<900)), "GET", "http://a/shared/\(index)"))
            }
            for side in 0...1 {
                for step in 0..<number(0..<6) {
                    switch number(0..<4) {
                    case 0 where !sides[side].isEmpty:
                        let victim = sides[side].remove(at: number(0..<sides[side].count))
                        if victim.request.url.contains("/base/") { touched[side].insert(victim.id) }
                    case 1 where !sides[side].isEmpty:
                        let place = number(0..<sides[side].count)
                        guard sides[side][place].request.url.contains("/base/") else { continue }
                        touched[side].insert(sides[side][place].id)
                        sides[side][place].response?.status = 300 + side * 100 + step
                    default:
                        let id = (sides[side].map(\.id).max() ?? 0) + 1
                        sides[side].append(.sample(id, at: Int64(number(0..<900)), "GET", "http://a/\(side)/\(seed)/\(step)"))
                    }
                }
                sides[side] += shared
            }
            let (outcome, merged) = try self.merge(base, sides[0], sides[1])
            let (mirrored, other) = try self.merge(base, sides[1], sides[0])
            #expect(outcome.text == mirrored.text, "seed \(seed): the result depends on the side")
            #expect(merged.map(\.started) == merged.map(\.started).sorted(), "seed \(seed)")
            #expect(Set(merged.map(\.id)).count == merged.count, "seed \(seed): ids are not unique")
            let both = touched[0].intersection(touched[1])
            #expect(both.isEmpty ? outcome.conflicts.isEmpty : outcome.conflicts.count <= both.count, "seed \(seed)")
            // What a side added is there once, and so is what nobody touched.
            let added = Set((sides[0] + sides[1]).map(\.request.url).filter { !$0.contains("/base/") })
            for url in added { #expect(merged.filter { $0.request.url == url }.count == 1, "seed \(seed): \(url)") }
            for exchange in base where !touched[0].union(touched[1]).contains(exchange.id) {
                #expect(merged.filter { $0 == exchange }.count == 1, "seed \(seed): \(exchange.id)")
            }
            // What one side did to an exchange that the other left alone is as it did it.
            for side in 0...1 {
                for id in touched[side].subtracting(touched[1 - side]) {
                    let wanted = sides[side].filter { $0.id == id && $0.request.url.contains("/base/") }
                    #expect(merged.filter { $0.request.url == base[id - 1].request.url } == wanted, "seed \(seed): \(id)")
                }
            }
            #expect(other.count == merged.count)
        }
    }
}
