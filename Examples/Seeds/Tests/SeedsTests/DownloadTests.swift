import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes("downloads", ignoring: [.host, .port])) struct DownloadTests {
    /// Has half of the album.
    private func half(in folder: URL) async throws -> URL {
        let destination: HTTPSession.DownloadRequest.Destination = { _, _ in
            (folder.appendingPathComponent("album.part"), [.createIntermediateDirectories])
        }
        return try await HTTPSession().download(
            Origin.url.appendingPathComponent("album"), headers: [.range("bytes=0-8191")], to: destination
        ).validate().serializingDownloadedFileURL().value
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seeds-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    // The rest has the same URL: the field that tells them apart is compared.
    @Test(.cassette(matching: [.method, .path, .header("Range")])) func goesOnWhereItStopped() async throws {
        try await self.withFolder { folder in
            let file = try await self.half(in: folder)
            #expect(try Data(contentsOf: file).count == 8192)
            #expect(try await ResumedDownload(Origin.url).resume(file) == 16_384)
        }
    }

    @Test func hasTheNameThatTheServerGives() async throws {
        try await self.withFolder { folder in
            let destination = HTTPSession.DownloadRequest.suggestedDownloadDestination(
                in: folder, options: [.createIntermediateDirectories])
            let download = HTTPSession().download(try Origin.url.appendingPathComponent("album"), to: destination).validate()
            let progress = download.downloadProgress()
            let file = try await download.serializingDownloadedFileURL().value
            var last: TransferProgress?
            for await step in progress { last = step }
            #expect(file.lastPathComponent == "album.bin")
            #expect(last == TransferProgress(completedUnitCount: 16_384, totalUnitCount: 16_384))
        }
    }
}
