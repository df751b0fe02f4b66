import CassetteModel
import CassettePlayback
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct AnswerLibraryTests {
    private func library(_ interactions: [Interaction], in folder: TemporaryFolder, cacheLimit: Int = AnswerLibrary.cacheLimit) throws
        -> AnswerLibrary
    {
        try CassetteFixture.write(interactions, to: folder.file("a.json"))
        return AnswerLibrary(try RecordedCassette(path: folder.file("a.json")), refresh: nil, cacheLimit: cacheLimit)
    }

    @Test func anAnswerIsMadeReadyOnceWhereItFits() throws {
        let folder = try TemporaryFolder()
        let interactions = (1...3).map { CassetteFixture.interaction($0, url: "http://a.test/\($0)", body: CassetteFixture.text("x")) }
        let library = try self.library(interactions, in: folder)
        #expect(try library.answer(1) === library.answer(1))
        let small = AnswerLibrary(library.cassette, refresh: nil, cacheLimit: 1)
        let first = try small.answer(0)
        _ = try small.answer(1)
        #expect(try small.answer(0) !== first)
    }

    @Test func piecesGoTogetherWithTheRecordedOnes() throws {
        let folder = try TemporaryFolder()
        let library = try self.library(
            [CassetteFixture.interaction(url: "http://a.test/", body: CassetteFixture.text("abc", pieces: [(0, 1), (5, 0), (9, 2)]))],
            in: folder)
        guard case .pieces(let pieces) = try library.answer(0).content else {
            Issue.record("not held")
            return
        }
        #expect(pieces == [Data("a".utf8), Data(), Data("bc".utf8)])
        #expect(try library.answer(0).arrival?.pieces.map(\.at) == [0, 5, 9])
    }

    @Test func aLargeBodyIsStreamed() throws {
        let folder = try TemporaryFolder()
        let large = String(repeating: "x", count: AnswerLibrary.streamSize + 1)
        let library = try self.library([CassetteFixture.interaction(url: "http://a.test/", body: CassetteFixture.text(large))], in: folder)
        #expect(try library.answer(0).isStreamed)
    }

    private func length(of body: Body, status: Int = 200, method: String = "GET") throws -> String? {
        let folder = try TemporaryFolder()
        var interaction = CassetteFixture.interaction(url: "http://a.test/", status: status, body: body)
        interaction.request.method = method
        interaction.response?.headers.append(name: "content-length", value: "99")
        return try self.library([interaction], in: folder).answer(0).head?.headers["Content-Length"]
    }

    @Test func theLengthFollowsAnEditedBody() throws {
        #expect(try self.length(of: CassetteFixture.text("edited")) == "6")
        let large = CassetteFixture.text(String(repeating: "x", count: AnswerLibrary.streamSize + 1))
        #expect(try self.length(of: large) == "\(AnswerLibrary.streamSize + 1)")
        let coded = Body(size: 99, codings: [.gzip(nil, header: .plain)], content: .text(Array(String(repeating: "a", count: 1000).utf8)))
        let size = try #require(try self.length(of: coded).flatMap { Int($0) })
        #expect(size > 18 && size < 99)
        // The length is the one of a GET.
        #expect(try self.length(of: CassetteFixture.text(""), method: "HEAD") == "99")
    }

    @Test func theLengthFollowsAnEditedBodyWithAnOriginal() throws {
        let bytes = try #require(Data(base64Encoded: "H4sIAAAAAAACA0ssVsgsUShPLFYoSk3OL0pJTQEAZb4hGxIAAAA="))
        let original = Sidecar(
            path: "a.bodies/a2642b404b91fb67e7613f64228d6339dad0c41ac3431ab8d6ba970b1c0757c2.gz", size: bytes.count,
            sha256: "a2642b404b91fb67e7613f64228d6339dad0c41ac3431ab8d6ba970b1c0757c2")
        func length(_ text: String) throws -> Int? {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.file("a.bodies"), withIntermediateDirectories: true)
            try bytes.write(to: URL(fileURLWithPath: folder.file(original.path)))
            let body = Body(
                size: bytes.count, codings: [.gzip(nil, header: .plain)], content: .text(Array(text.utf8)), original: original)
            var interaction = CassetteFixture.interaction(url: "http://a.test/", body: body)
            interaction.response?.headers.append(name: "content-length", value: "\(bytes.count)")
            return try self.library([interaction], in: folder).answer(0).head?.headers["Content-Length"].flatMap { Int($0) }
        }
        #expect(try length("as it was recorded") == bytes.count)
        let edited = try #require(try length(String((0..<500).map { "\($0)" }.joined())))
        #expect(edited > bytes.count + 100)
    }

    @Test func aChangeOfProtocolsIsNoAnswer() throws {
        let folder = try TemporaryFolder()
        let library = try self.library([CassetteFixture.interaction(url: "http://a.test/", status: 101)], in: folder)
        #expect(throws: CassetteError.self) { try library.answer(0) }
    }
}

@Suite struct RecordedFailureTests {
    @Test(
        arguments: [
            (Outcome.complete, true, true, nil),
            (.complete, true, false, .truncated), (.complete, false, true, .truncated),
            (.failed(Failure(kind: .tls, message: "x")), false, true, .tls),
            (.failed(Failure(kind: .reset, message: "x")), true, false, .reset),
            (.cut(Cut(by: .origin, reason: "x")), true, false, .truncated), (.cut(Cut(by: .client, reason: "x")), false, true, .cancelled),
            (.cut(Cut(by: .client, kind: .timeout, reason: "x")), true, false, .timeout),
            (.cut(Cut(by: .origin, kind: .reset, reason: "x")), true, false, .reset),
            (.cut(Cut(by: .client, kind: .cancelled, reason: "x")), true, false, nil),
            (.cut(Cut(by: .client, kind: .cancelled, reason: "x")), false, true, nil),
        ] as [(Outcome, Bool, Bool, Failure.Kind?)])
    func eachEndingHasItsFailure(outcome: Outcome, hasResponse: Bool, isComplete: Bool, kind: Failure.Kind?) {
        let failure = RecordedFailure.of(outcome, hasResponse: hasResponse, isBodyComplete: isComplete)
        #expect(failure?.kind == kind.map { .network($0) })
    }
}
