import Foundation
import Testing
import Wiretape

@Suite struct DownloadToAFileTests {
    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private var session: HTTPSession {
        let disposition = HTTPSession.Header.contentDisposition("attachment; filename=\"album.png\"")
        return Answers.session(.response(headers: [disposition, .contentType("image/png")], body: Data("PNG".utf8)))
    }

    @Test func aFileGetsTheNameThatTheServerGives() async throws {
        try await self.inFolder { folder in
            let session = self.session
            // snippet: download
            let destination = HTTPSession.DownloadRequest.suggestedDownloadDestination(
                in: folder, options: [.createIntermediateDirectories, .removePreviousFile])
            let file = try await session.download("https://example.test/album", to: destination)
                .validate()
                .serializingDownloadedFileURL()
                .value
            // snippet end
            #expect(file.lastPathComponent == "album.png")
            #expect(try Data(contentsOf: file) == Data("PNG".utf8))
        }
    }

    @Test func aClosureSaysWhere() async throws {
        try await self.inFolder { folder in
            let session = self.session
            // snippet: download-destination
            let destination: HTTPSession.DownloadRequest.Destination = { _, response in
                let kind = response.headers["Content-Type"] == "image/png" ? "png" : "bin"
                let file = folder.appendingPathComponent("album.\(kind)")
                return (file, [.createIntermediateDirectories])
            }
            let album = session.download("https://example.test/album", to: destination)
            // snippet end
            let file = try await album.serializingDownloadedFileURL().value
            #expect(file.lastPathComponent == "album.png")
        }
    }

    @Test func progressIsASequence() async throws {
        try await self.inFolder { folder in
            let session = self.session
            // snippet: download-progress
            let download = session.download("https://example.test/album")
            let progress = download.downloadProgress()
            let file = download.serializingDownloadedFileURL()
            for await step in progress {
                print(step.completedUnitCount, "of", step.totalUnitCount ?? 0)
            }
            try FileManager.default.removeItem(at: await file.value)
            // snippet end
        }
    }

    @Test func anInterruptedDownloadContinues() async throws {
        try await self.inFolder { folder in
            let answers = [
                StubResponse(
                    status: 200, headers: ["ETag": "\"1\""], chunks: [StubResponse.Chunk(Data("PN".utf8))],
                    ending: .failure(TransportFailure(.network(.reset), "the connection was reset"))),
                StubResponse(
                    status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 2-2/3"], chunks: [StubResponse.Chunk(Data("G".utf8))]),
            ]
            let session = HTTPSession(transport: StubTransport(answers))
            let destination = HTTPSession.DownloadRequest.suggestedDownloadDestination(in: folder, options: .createIntermediateDirectories)
            // snippet: download-resume
            let broken = await session.download("https://example.test/large").serializingDownloadedFileURL().response
            guard let data = broken.resumeData else { return }
            let rest = session.download(resumingWith: data, to: destination)
            let file = try await rest.validate().serializingDownloadedFileURL().value
            // snippet end
            #expect(try Data(contentsOf: file) == Data("PNG".utf8))
        }
    }
}
