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
        var book = SessionRegistry<Int>(limit: 2)
        let name = try book.reserve(nil, cassette: "a", writes: true)
        #expect(name.text == "s1")
        #expect(self.code { () throws(SessionError) in _ = try book.session(name) } == .notFound)
        #expect(self.code { () throws(SessionError) in _ = try book.beginClosing(name) } == .notFound)
        try book.opened(name, 7)
        #expect(try book.session(name) == 7)
        #expect(book.open == [7])
        #expect(try book.beginClosing(name) == 7)
        #expect(self.code { () throws(SessionError) in _ = try book.beginClosing(name) } == .notFound, "one verdict, for one caller")
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(name, cassette: "b", writes: false) } == .nameTaken)
        book.closed(name)
        #expect(try book.reserve(name, cassette: "a", writes: true) == name)
    }

    @Test func aCassetteHasOneWriterOrManyReaders() throws {
        var book = SessionRegistry<Int>(limit: 9)
        let reader = try book.reserve(nil, cassette: "a", writes: false)
        let other = try book.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "a", writes: true) } == .cassetteInUse)
        let writer = try book.reserve(nil, cassette: "b", writes: true)
        for writes in [true, false] {
            #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "b", writes: writes) } == .cassetteInUse)
        }
        book.closed(reader)
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "a", writes: true) } == .cassetteInUse)
        book.closed(other)
        _ = try book.reserve(nil, cassette: "a", writes: true)
        book.closed(writer)
        _ = try book.reserve(nil, cassette: "b", writes: false)
    }

    @Test func aReaderBecomesAWriterWhereNobodyElseReads() throws {
        var book = SessionRegistry<Int>(limit: 9)
        let first = try book.reserve(nil, cassette: "a", writes: false)
        let second = try book.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in try book.willWrite(first) } == .cassetteInUse)
        book.closed(second)
        try book.willWrite(first)
        try book.willWrite(first)
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "a", writes: false) } == .cassetteInUse)
    }

    @Test func aClosingSessionStillHasItsCassette() throws {
        var book = SessionRegistry<Int>(limit: 9)
        let name = try book.reserve(nil, cassette: "a", writes: true)
        try book.opened(name, 1)
        _ = try book.beginClosing(name)
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "a", writes: false) } == .cassetteInUse)
    }

    @Test func noMoreThanTheLimit() throws {
        var book = SessionRegistry<Int>(limit: 2)
        let first = try book.reserve(nil, cassette: "a", writes: false)
        _ = try book.reserve(nil, cassette: "a", writes: false)
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "a", writes: false) } == .tooMany)
        book.closed(first)
        _ = try book.reserve(nil, cassette: "a", writes: false)
    }

    @Test func freeNamesPassOverTakenOnes() throws {
        var book = SessionRegistry<Int>(limit: 9)
        _ = try book.reserve(try self.name("s1"), cassette: "a", writes: false)
        #expect(try book.reserve(nil, cassette: "a", writes: false).text == "s2")
    }

    @Test func aStopTakesWhatIsOpenAndLetsNobodyIn() throws {
        var book = SessionRegistry<Int>(limit: 9)
        let first = try book.reserve(nil, cassette: "a", writes: false)
        let second = try book.reserve(nil, cassette: "a", writes: false)
        let third = try book.reserve(nil, cassette: "a", writes: false)
        try book.opened(second, 2)
        try book.opened(first, 1)
        #expect(book.stop() == [1, 2])
        #expect(book.open.isEmpty)
        #expect(self.code { () throws(SessionError) in try book.opened(third, 3) } == .stopping, "who comes too late closes it")
        #expect(self.code { () throws(SessionError) in _ = try book.reserve(nil, cassette: "z", writes: false) } == .stopping)
        #expect(self.code { () throws(SessionError) in _ = try book.beginClosing(first) } == .notFound)
    }
}
