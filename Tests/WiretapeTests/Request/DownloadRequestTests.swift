import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct DownloadRequestTests {
    @Test func theAnswerIsWrittenAsItComesAndPlacedAtItsEnd() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let request = session.download(
            "http://a.test/report.pdf",
            to: HTTPSession.DownloadRequest.suggestedDownloadDestination(
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
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1,2]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let request = session.download("http://a.test/x")
        #expect(try await request.serializingDecodable([Int].self).value == [1, 2])
        #expect(try await request.serializingString().value == "[1,2]")
        #expect(try folder.names().count == 1, "the file is the caller's")
    }

    @Test func nothingIsLeftOfADownloadThatFailed() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(500, [:], "no") }) {
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
        let session = HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
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
        let response = HTTPSession.Response(
            url: try "http://a.test/d/report.pdf".asURL(), status: 200, headers: ["Content-Disposition": disposition])
        #expect(HTTPSession.DownloadRequest.fileName(response) == name)
    }

    @Test func aDestinationMayCancelItsRequest() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<HTTPSession.DownloadRequest?>(nil)
        let destination: HTTPSession.DownloadRequest.Destination = { _, _ in
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
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<HTTPSession.DownloadRequest?>(nil)
        let destination: HTTPSession.DownloadRequest.Destination = { _, _ in
            (URL(fileURLWithPath: folder.file("result")), .removePreviousFile)
        }
        let request = session.download("http://a.test/x", to: destination)
        made.withLock { $0 = request }
        let response = await request.validate(HTTPSession.Validation { _, _, _ in made.withLock { $0 }?.cancel() }).serializingData()
            .response
        made.withLock { $0 = nil }
        #expect(response.error?.isCancelled == true)
        #expect(try folder.names() == ["result"])
        #expect(try folder.read("result") == Array("old".utf8))
    }
}

@Suite struct DownloadFileTests {
    private let folder: TemporaryFolder
    private let response = HTTPSession.Response(url: URL(fileURLWithPath: "/x"), status: 200)

    init() throws { self.folder = try TemporaryFolder() }

    private func file(to name: String? = nil, _ options: HTTPSession.DownloadRequest.Options = []) -> DownloadFile {
        guard let name else { return DownloadFile(folder: URL(fileURLWithPath: self.folder.path), destination: nil) }
        let target = URL(fileURLWithPath: self.folder.file(name))
        return DownloadFile(folder: URL(fileURLWithPath: self.folder.path)) { _, _ in (target, options) }
    }

    @Test func theFileIsInItsPlaceWholeOrNotAtAll() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        try file.write(Data("c".utf8))
        #expect(try !self.folder.names().contains("result"))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("abc".utf8))
        #expect(file.url?.path == self.folder.file("result"))
        file.finish()
        #expect(try self.folder.names() == ["result"])
    }

    @Test func whatIsNotPlacedIsRemoved() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        #expect(try self.folder.names().count == 1)
        file.finish()
        #expect(try self.folder.names().isEmpty)
        #expect(file.url == nil)
    }

    @Test func anotherAttemptBeginsAnew() throws {
        let file = self.file(to: "result")
        try file.write(Data("half".utf8))
        file.restart()
        try file.write(Data("whole".utf8))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("whole".utf8))
    }

    @Test func aFileThatIsThereIsReplacedOnlyWhereThatIsWanted() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let refused = self.file(to: "result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("removePreviousFile") == true)
        refused.finish()
        #expect(try self.folder.read("result") == Array("old".utf8))
        try self.file(to: "result", .removePreviousFile).place(self.response)
        #expect(try self.folder.read("result").isEmpty)
    }

    @Test func foldersAreCreatedOnlyWhereThatIsWanted() throws {
        let refused = self.file(to: "a/b/result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("createIntermediateDirectories") == true)
        try self.file(to: "a/b/result", .createIntermediateDirectories).place(self.response)
        #expect(try self.folder.names(in: "a/b") == ["result"])
    }

    @Test func aFolderIsNoPlaceForAFile() throws {
        let error = #expect(throws: WiretapeError.self) { try self.file(to: "").place(self.response) }
        #expect(error?.code == .file)
    }

    @Test func aFolderThatIsNotThereIsTheError() {
        let file = DownloadFile(folder: URL(fileURLWithPath: "/nowhere/at/all"), destination: nil)
        let error = #expect(throws: WiretapeError.self) { try file.write(Data("a".utf8)) }
        #expect(error?.message.contains("\"/nowhere/at/all\"") == true)
    }

    @Test func onlyItsUserMayReadIt() throws {
        let file = self.file()
        try file.place(self.response)
        let attributes = try FileManager.default.attributesOfItem(atPath: try #require(file.url).path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func nothingIsWrittenBehindTheEnd() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let file = self.file(to: "result", .removePreviousFile)
        try file.write(Data("half".utf8))
        file.finish()
        try file.write(Data("late".utf8))
        try file.place(self.response)
        #expect(try self.folder.names() == ["result"])
        #expect(try self.folder.read("result") == Array("old".utf8))
        #expect(file.url == nil)
    }
}

@Suite struct DownloadRequestContentTests {
    /// Works on files alone.
    private struct NameSerializer: HTTPSession.DownloadResponseSerializer {
        func serializeDownload(request: URLRequest?, response: HTTPSession.Response?, fileURL: URL?, error: (any Error)?) -> String {
            fileURL?.lastPathComponent ?? "none"
        }
    }

    private let queue = DispatchQueue(label: "handlers")
    private let folder: TemporaryFolder
    private let session: HTTPSession

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
    }

    @Test func handlersHaveTheFile() async throws {
        let request = self.session.download("http://a.test/")
        let seen = Collected<URL?>()
        await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { seen.add($0.value ?? nil) }
                .responseURL(queue: self.queue) {
                    seen.add($0.value)
                    continuation.resume()
                }
        }
        let file = try #require(request.fileURL)
        #expect(seen.all == [file, file] && file.path.hasPrefix(self.folder.path))
    }

    @Test func whereTheFileIs() async throws {
        #expect(try await self.session.download("http://a.test/").serializingDownloadedFileURL().value.path.hasPrefix(self.folder.path))
    }

    @Test func serializersOfFilesAloneWork() async throws {
        let request = self.session.download("http://a.test/")
        let task: HTTPSession.DownloadTask<String> = request.serializing(NameSerializer())
        let name = try await task.value
        #expect(name == request.fileURL?.lastPathComponent)
        let handled = await withCheckedContinuation { continuation in
            request.response(queue: self.queue, responseSerializer: NameSerializer()) { continuation.resume(returning: $0.value) }
        }
        #expect(handled == name)
    }
}
