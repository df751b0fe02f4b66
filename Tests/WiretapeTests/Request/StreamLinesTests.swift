import Testing
@testable import Wiretape

@Suite struct StreamLinesTests {
    @Test func linesAreTheSameHoweverChunksCutThem() async throws {
        let (session, request) = HTTPSession.streaming(["a\r", "\nb", "c\rd\n", "", "last"])
        #expect(try await request.lines.collected() == ["a", "bc", "d", "last"])
        withExtendedLifetime(session) {}
    }
}

@Suite struct DecodedLinesTests {
    private struct Pet: Decodable, Equatable { var name: String }

    @Test func eachLineIsAValue() async throws {
        let (session, request) = HTTPSession.streaming(["{\"name\":\"a\"}\n\n{\"na", "me\":\"b\"}\n  \n{\"name\":\"c\"}"])
        #expect(try await request.decoding(Pet.self).collected() == ["a", "b", "c"].map(Pet.init))
        withExtendedLifetime(session) {}
    }

    @Test func anInvalidLineIsNamed() async throws {
        let (session, request) = HTTPSession.streaming(["{\"name\":\"a\"}\nno\n"])
        let error = await #expect(throws: WiretapeError.self) { try await request.decoding(Pet.self).collected() }
        #expect(error?.code == .serialization)
        #expect(error?.message.hasPrefix("could not decode \"Pet\" from line 2 of the response") == true)
        withExtendedLifetime(session) {}
    }
}

@Suite struct LineReaderTests {
    @Test(arguments: [(true, 2), (false, 1)])
    func aLineWithoutAnEndIsKeptWhereThatIsWanted(keepsLast: Bool, count: Int) async throws {
        let (session, request) = HTTPSession.streaming(["a\nb"])
        var lines = LineReader(StreamReader(request))
        var seen = 0
        while try await lines.next(keepsLast: keepsLast) != nil { seen += 1 }
        #expect(seen == count)
        withExtendedLifetime(session) {}
    }
}

@Suite struct LineSplitterTests {
    private static func lines(_ chunks: [String]) throws -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        for chunk in chunks { lines += try splitter.push(Array(chunk.utf8)).map { String(decoding: $0, as: UTF8.self) } }
        return lines + (splitter.finish().map { [String(decoding: $0, as: UTF8.self)] } ?? [])
    }

    @Test func allThreeEndsEndALine() throws {
        #expect(try Self.lines(["a\nb\r\nc\rd"]) == ["a", "b", "c", "d"])
        #expect(try Self.lines(["\n\r\n\r\r"]) == ["", "", "", ""])
        #expect(try Self.lines(["a\n"]) == ["a"])
        #expect(try Self.lines([""]) == [])
    }

    @Test func howChunksCutThemDoesNotMatter() throws {
        let text = "one\r\n\r\ntwo\u{AC00}\rthree\n\nfour"
        let whole = try Self.lines([text])
        #expect(whole == ["one", "", "two\u{AC00}", "three", "", "four"])
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var splitter = LineSplitter()
            var lines = try splitter.push(bytes[..<cut]) + (try splitter.push(bytes[cut...]))
            if let last = splitter.finish() { lines.append(last) }
            #expect(lines.map { String(decoding: $0, as: UTF8.self) } == whole, "cut at \(cut)")
        }
    }

    @Test func aLineWithoutEndIsRefused() throws {
        var splitter = LineSplitter()
        _ = try splitter.push([UInt8](repeating: 97, count: LineSplitter.limit))
        let error = #expect(throws: WiretapeError.self) { try splitter.push([97]) }
        #expect(error?.code == .stream)
    }
}
