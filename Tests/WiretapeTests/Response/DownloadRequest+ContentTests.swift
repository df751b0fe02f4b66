import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct DownloadRequestContentTests {
    /// Works on files alone.
    private struct NameSerializer: DownloadResponseSerializer {
        func serializeDownload(request: URLRequest?, response: HTTPResponse?, fileURL: URL?, error: (any Error)?) -> String {
            fileURL?.lastPathComponent ?? "none"
        }
    }

    private let queue = DispatchQueue(label: "handlers")
    private let folder: TemporaryFolder
    private let session: Session

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
        let task: DownloadTask<String> = request.serializing(NameSerializer())
        let name = try await task.value
        #expect(name == request.fileURL?.lastPathComponent)
        let handled = await withCheckedContinuation { continuation in
            request.response(queue: self.queue, responseSerializer: NameSerializer()) { continuation.resume(returning: $0.value) }
        }
        #expect(handled == name)
    }
}
