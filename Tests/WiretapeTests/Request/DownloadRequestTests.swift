import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DownloadRequestTests {
    @Test func theAnswerIsWrittenAsItComesAndPlacedAtItsEnd() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let session = Session.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let request = session.download(
            "http://a.test/report.pdf",
            to: DownloadRequest.suggestedDownloadDestination(
                in: URL(fileURLWithPath: folder.file("out")), options: .createIntermediateDirectories))
        let task = request.serializingDownloadedFileURL()
        let exchange = await transport.exchange(1)
        exchange.head()
        exchange.chunk("ab")
        #expect(try folder.names().count == 1)
        exchange.chunk("c")
        exchange.send(.end)
        let response = await task.response
        #expect(response.value?.path == folder.file("out/report.pdf"))
        #expect(response.fileURL == request.fileURL)
        #expect(try folder.read("out/report.pdf") == Array("abc".utf8))
        #expect(try folder.names() == ["out"])
    }

    @Test func serializersReadTheFile() async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1,2]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let request = session.download("http://a.test/x")
        #expect(try await request.serializingDecodable([Int].self).value == [1, 2])
        #expect(try await request.serializingString().value == "[1,2]")
        #expect(try folder.names().count == 1, "the file is the caller's")
    }

    @Test func nothingIsLeftOfADownloadThatFailed() async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(500, [:], "no") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let response = await session.download("http://a.test/x").validate().serializingData().response
        #expect(response.error?.code == .validation)
        #expect(response.fileURL == nil)
        #expect(try folder.names().isEmpty)
    }

    @Test func nothingIsLeftOfADownloadThatWasCancelled() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let session = Session.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let request = session.download("http://a.test/x")
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        exchange.head()
        exchange.chunk("half")
        request.cancel()
        _ = await task.response
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [
        ("attachment; filename=\"a.txt\"", "a.txt"), ("attachment; filename=\"../../etc/x\"", "x"),
        ("attachment; filename=\"..\"", "unknown"),
        ("attachment; filename=\"a.txt\"; filename*=UTF-8''%ED%8E%AB%2F%2E%2E%5C%ED%8E%AB.png", "펫.png"), ("inline", "report.pdf"),
    ])
    func noAnswerChoosesTheFolder(disposition: String, name: String) throws {
        let response = HTTPResponse(
            url: try "http://a.test/d/report.pdf".asURL(), status: 200, headers: ["Content-Disposition": disposition])
        #expect(DownloadRequest.fileName(response) == name)
    }

    @Test func aDestinationMayCancelItsRequest() async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<DownloadRequest?>(nil)
        let destination: DownloadRequest.Destination = { _, _ in
            made.withLock { $0 }?.cancel()
            return (URL(fileURLWithPath: folder.file("result")), [])
        }
        let request = session.download("http://a.test/x", to: destination)
        made.withLock { $0 = request }
        let response = await request.serializingData().response
        made.withLock { $0 = nil }
        #expect(response.error?.isCancelled == true)
        #expect(try folder.names().isEmpty)
    }

    @Test func aValidationThatCancelsLeavesTheOldFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("old".utf8), to: "result")
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<DownloadRequest?>(nil)
        let destination: DownloadRequest.Destination = { _, _ in (URL(fileURLWithPath: folder.file("result")), .removePreviousFile) }
        let request = session.download("http://a.test/x", to: destination)
        made.withLock { $0 = request }
        let response = await request.validate(Validation { _, _, _ in made.withLock { $0 }?.cancel() }).serializingData().response
        made.withLock { $0 = nil }
        #expect(response.error?.isCancelled == true)
        #expect(try folder.names() == ["result"])
        #expect(try folder.read("result") == Array("old".utf8))
    }
}
