import Testing
@testable import TapeProxy

@Suite struct SessionRegistryTests {
    private func name(_ text: String) throws -> SessionName { try #require(SessionName(text)) }

    private func code(_ body: () throws(SessionError) -> Void) -> SessionError.Code? {
        do throws(SessionError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aSessionIsReservedOpenClosingAndGone() throws {
        var registry = SessionRegistry<Int>(limit: 2)
        let name = try registry.reserve(nil, cassette: "a", writes: true)
        #expect(name.text == "s1")
        #expect(self.code { () throws(SessionError) in _ = try registry.session(name) } == .notFound)
        #expect(self.code { () throws(SessionError) in _ = try registry.beginClosing(name) } == .notFound)
        try registry.opened(name, 7)
        #expect(try registry.session(name) == 7)
        #expect(registry.open == [7])
        #expect(try registry.beginClosing(name) == 7)
        #expect(self.code { () throws(SessionError) in _ = try registry.beginClosing(name) } == .notFound, "one verdict, for one caller")
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(name, cassette: "b", writes: false) } == .nameTaken)
        registry.closed(name)
        #expect(try registry.reserve(name, cassette: "a", writes: true) == name)
    }

    @Test func aCassetteHasOneWriterOrManyReaders() throws {
        var registry = SessionRegistry<Int>(limit: 9)
        let reader = try registry.reserve(nil, cassette: "a", writes: false)
        let other = try registry.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "a", writes: true) } == .cassetteInUse)
        let writer = try registry.reserve(nil, cassette: "b", writes: true)
        for writes in [true, false] {
            #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "b", writes: writes) } == .cassetteInUse)
        }
        registry.closed(reader)
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "a", writes: true) } == .cassetteInUse)
        registry.closed(other)
        _ = try registry.reserve(nil, cassette: "a", writes: true)
        registry.closed(writer)
        _ = try registry.reserve(nil, cassette: "b", writes: false)
    }

    @Test func theOnlyReaderCanBecomeAWriter() throws {
        var registry = SessionRegistry<Int>(limit: 9)
        let first = try registry.reserve(nil, cassette: "a", writes: false)
        let second = try registry.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in try registry.willWrite(first) } == .cassetteInUse)
        registry.closed(second)
        try registry.willWrite(first)
        try registry.willWrite(first)
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "a", writes: false) } == .cassetteInUse)
    }

    @Test func aClosingSessionStillHasItsCassette() throws {
        var registry = SessionRegistry<Int>(limit: 9)
        let name = try registry.reserve(nil, cassette: "a", writes: true)
        try registry.opened(name, 1)
        _ = try registry.beginClosing(name)
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "a", writes: false) } == .cassetteInUse)
    }

    @Test func noMoreThanTheLimit() throws {
        var registry = SessionRegistry<Int>(limit: 2)
        let first = try registry.reserve(nil, cassette: "a", writes: false)
        _ = try registry.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "a", writes: false) } == .tooMany)
        registry.closed(first)
        _ = try registry.reserve(nil, cassette: "a", writes: false)
    }

    @Test func freeNamesPassOverTakenOnes() throws {
        var registry = SessionRegistry<Int>(limit: 9)
        _ = try registry.reserve(try self.name("s1"), cassette: "a", writes: false)
        #expect(try registry.reserve(nil, cassette: "a", writes: false).text == "s2")
    }

    @Test func aStopTakesOpenSessionsAndRefusesNewOnes() throws {
        var registry = SessionRegistry<Int>(limit: 9)
        let first = try registry.reserve(nil, cassette: "a", writes: false)
        let second = try registry.reserve(nil, cassette: "a", writes: false)
        let third = try registry.reserve(nil, cassette: "a", writes: false)
        try registry.opened(second, 2)
        try registry.opened(first, 1)
        #expect(registry.stop() == [1, 2])
        #expect(registry.open.isEmpty)
        #expect(self.code { () throws(SessionError) in try registry.opened(third, 3) } == .stopping, "who comes too late closes it")
        #expect(self.code { () throws(SessionError) in _ = try registry.reserve(nil, cassette: "z", writes: false) } == .stopping)
        #expect(self.code { () throws(SessionError) in _ = try registry.beginClosing(first) } == .notFound)
    }
}
