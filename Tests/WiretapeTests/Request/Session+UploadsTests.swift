import Foundation
import TapeTestSupport
import Testing
import Wiretape

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionUploadsTests {
    /// The bytes that a transport would send, read while the request is on its way.
    private static func bytes(_ body: RequestBody) -> String {
        switch body {
        case .none, .unobservable: "none"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .file(let url, let size):
            "\((try? String(decoding: Data(contentsOf: url), as: UTF8.self)) ?? "unreadable") (\(size))"
        }
    }

    private let sent = Collected<String>()
    private let session: Session

    init() {
        let sent = self.sent
        self.session = .plain(
            ScriptedTransport { exchange, _ in
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            })
    }

    @Test func dataAndFilesAreBodies() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("file".utf8), to: "f")
        let url = URL(fileURLWithPath: folder.file("f"))
        _ = await self.session.upload(Data("data".utf8), to: "http://a.test/").serializingData().response
        let response = await self.session.upload(url, to: "http://a.test/", method: .put).serializingData().response
        let given = URLRequest(url: try "http://a.test/".asURL())
        _ = await self.session.upload(url, with: given).serializingData().response
        _ = await self.session.upload(Data("with".utf8), with: given).serializingData().response
        #expect(self.sent.all == ["data", "file (4)", "file (4)", "with"])
        #expect(response.sentRequest?.method == "PUT")
    }

    @Test func aFileThatIsNotThereIsTheError() async throws {
        let folder = try TemporaryFolder()
        for path in [folder.file("none"), folder.path] {
            let error = await self.session.upload(URL(fileURLWithPath: path), to: "http://a.test/").serializingData().response.error
            #expect(error?.code == .requestBody)
            #expect(error?.message.contains("\"\(path)\"") == true)
        }
    }

    @Test func aStreamIsSpooledAndItsFileRemoved() async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(
            ScriptedTransport { [sent] exchange, _ in
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let text = String(repeating: "x", count: 200_000)
        _ = await session.upload(InputStream(data: Data(text.utf8)), to: "http://a.test/").serializingData().response
        var given = URLRequest(url: try "http://a.test/".asURL())
        given.httpMethod = "POST"
        given.httpBodyStream = InputStream(data: Data("own".utf8))
        _ = await session.request(given).serializingData().response
        _ = await session.upload(InputStream(data: Data("with".utf8)), with: given).serializingData().response
        #expect(self.sent.all == ["\(text) (200000)", "own (3)", "with (4)"])
        await session.waitUntilIdle()
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [(1_000, "memory"), (10, "file")])
    func aFormIsEncodedInMemoryOrInAFile(threshold: Int, place: String) async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(
            ScriptedTransport { [sent] exchange, _ in
                if case .file = exchange.request.body { sent.add("file") } else { sent.add("memory") }
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let upload = session.upload(
            multipartFormData: { try $0.append("\u{AC00}", name: "name") }, to: "http://a.test/", usingThreshold: threshold)
        let type = await upload.serializingData().response.sentRequest?.headers["Content-Type"]
        #expect(self.sent.all.first == place)
        #expect(self.sent.all.last?.contains("name=\"name\"\r\n\r\n\u{AC00}\r\n--") == true)
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true)
        await session.waitUntilIdle()
        #expect(try folder.names().isEmpty)
    }

    @Test func aFormThatCannotBeFilledIsTheError() async {
        let error = await self.session.upload(
            multipartFormData: { try $0.append(fileURL: "file:///nowhere/x", name: "a") }, to: "http://a.test/"
        ).serializingData().response.error
        #expect(error?.code == .requestBody || error?.code == .invalidRequest)
        #expect(error?.cause is FormDataError)
        #expect(self.sent.all.isEmpty)
    }
}
