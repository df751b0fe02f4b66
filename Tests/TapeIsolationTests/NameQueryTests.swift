import Testing

@testable import TapeIsolation

@Suite struct NameQueryTests {
    /// A query with the id 0x1234 that wants recursion.
    private static func query(_ name: String, type: UInt16 = 1, more: [UInt8] = []) -> [UInt8] {
        let labels = name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        return [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, more.isEmpty ? 0 : 1] + labels + [0, UInt8(type >> 8), UInt8(type & 0xFF), 0, 1]
            + more
    }

    @Test func anAddressIsAnsweredWithTheQuestionAsItWasAsked() throws {
        let bytes = Self.query("Pets.Example.TEST")
        let query = try NameQuery(bytes)
        #expect(query.name == "pets.example.test" && query.kind == .address4 && query.isHostName)
        let answer = query.answer([[198, 18, 0, 10]])
        #expect(Array(answer.prefix(12)) == [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
        #expect(answer.dropFirst(12).starts(with: bytes.dropFirst(12)))
        #expect(Array(answer.suffix(16)) == [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 198, 18, 0, 10])
    }

    @Test func aVersion6AddressHasItsOwnType() throws {
        let query = try NameQuery(Self.query("a.test", type: 28, more: [0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]))
        #expect(query.kind == .address6)
        #expect(Array(query.answer([Array(repeating: 7, count: 16)]).suffix(28).prefix(12)) == [0xC0, 12, 0, 28, 0, 1, 0, 0, 0, 1, 0, 16])
    }

    @Test(arguments: [(65, "HTTPS"), (33, "SRV"), (16, "TXT"), (999, "TYPE999")] as [(UInt16, String)])
    func otherRecordsAreNamedAndAnsweredEmpty(_ type: UInt16, _ name: String) throws {
        let query = try NameQuery(Self.query("a.test", type: type))
        #expect(query.kind == .other(type) && query.kind.name == name)
        #expect(query.answer([])[3] & 15 == 0 && query.answer([])[7] == 0)
    }

    @Test func failuresHaveTheirCodes() throws {
        let query = try NameQuery(Self.query("a.test"))
        #expect(query.failure[3] & 15 == 2 && query.notFound[3] & 15 == 3)
    }

    @Test(arguments: ["a b.test", "é.test", "*.test", ""])
    func namesThatAreNoHostsAreToldApart(_ name: String) throws { #expect(try !NameQuery(Self.query(name)).isHostName) }

    @Test func anAnswerAndAFewBytesAreIgnored() {
        var answer = Self.query("a.test")
        answer[2] |= 0x80
        for bytes in [[], Array(Self.query("a.test").prefix(11)), answer] {
            #expect(throws: NameQuery.Problem.noQuery) { try NameQuery(bytes) }
        }
        #expect(NameQuery.Problem.noQuery.answer == nil)
    }

    @Test func malformedQueriesAreAnsweredAsSuch() {
        var two = Self.query("a.test")
        two[5] = 2
        var pointer = Self.query("a.test")
        pointer[12] = 0xC0
        let long = Self.query((0..<5).map { _ in String(repeating: "a", count: 63) }.joined(separator: "."))
        for bytes in [two, pointer, long, Self.query("a.test").dropLast(1), Self.query("a.test").dropLast(6)] {
            #expect(throws: NameQuery.Problem.malformed(id: [0x12, 0x34])) { try NameQuery(bytes) }
        }
        #expect(NameQuery.Problem.malformed(id: [1, 2]).answer == [1, 2, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test func otherOperationsAndClassesAreNotImplemented() {
        var update = Self.query("a.test")
        update[2] |= 5 << 3
        var chaos = Self.query("version.bind", type: 16)
        chaos[chaos.count - 1] = 3
        for bytes in [update, chaos] { #expect(throws: NameQuery.Problem.notImplemented(id: [0x12, 0x34])) { try NameQuery(bytes) } }
    }

    @Test func theLongestNameIsRead() throws {
        let name = [63, 63, 63, 61].map { String(repeating: "a", count: $0) }.joined(separator: ".")
        #expect(try NameQuery(Self.query(name)).name == name)
    }
}
